// Two heads that share K and V, lengths that are no multiple of any tile.
func.func @small(%q: tensor<1x2x70x64xf16>, %k: tensor<1x1x93x64xf16>,
                 %v: tensor<1x1x93x64xf16>)
    -> (tensor<1x2x70x64xf16>, tensor<1x2x70xf32>) {
  %o, %lse = fa.attention %q, %k, %v masks [#fa.causal<bottom_right>]
       : tensor<1x2x70x64xf16>, tensor<1x1x93x64xf16>, tensor<1x1x93x64xf16>
         -> tensor<1x2x70x64xf16>, tensor<1x2x70xf32>
  return %o, %lse : tensor<1x2x70x64xf16>, tensor<1x2x70xf32>
}
