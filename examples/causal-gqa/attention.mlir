// The attention of a decoder layer: causal, 8 query heads that share 2
// key/value heads, head dimension 64, and the log-sum-exp of each row.
func.func @causal_gqa(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x2x1024x64xf16>,
                      %v: tensor<1x2x1024x64xf16>)
    -> (tensor<1x8x1024x64xf16>, tensor<1x8x1024xf32>) {
  %o, %lse = fa.attention %q, %k, %v masks [#fa.causal<bottom_right>]
       : tensor<1x8x1024x64xf16>, tensor<1x2x1024x64xf16>,
         tensor<1x2x1024x64xf16>
         -> tensor<1x8x1024x64xf16>, tensor<1x8x1024xf32>
  return %o, %lse : tensor<1x8x1024x64xf16>, tensor<1x8x1024xf32>
}
