// Part of a model: the queries are scaled feature by feature, attended, and the
// input is added to what comes out. Only the middle op is FA-MLIR's.
#all = affine_map<(b, h, i, d) -> (b, h, i, d)>
#feature = affine_map<(b, h, i, d) -> (d)>

func.func @layer(%x: tensor<1x4x?x64xf16>, %gain: tensor<64xf16>,
                 %k: tensor<1x2x?x64xf16>, %v: tensor<1x2x?x64xf16>)
    -> tensor<1x4x?x64xf16> {
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %x, %c2 : tensor<1x4x?x64xf16>
  %empty = tensor.empty(%rows) : tensor<1x4x?x64xf16>
  %q = linalg.generic {
      indexing_maps = [#all, #feature, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %gain : tensor<1x4x?x64xf16>, tensor<64xf16>)
      outs(%empty : tensor<1x4x?x64xf16>) {
    ^bb0(%a: f16, %g: f16, %ignored: f16):
      %scaled = arith.mulf %a, %g : f16
      linalg.yield %scaled : f16
  } -> tensor<1x4x?x64xf16>
  %o = fa.attention %q, %k, %v masks [#fa.causal<bottom_right>]
       : tensor<1x4x?x64xf16>, tensor<1x2x?x64xf16>, tensor<1x2x?x64xf16>
         -> tensor<1x4x?x64xf16>
  %sum = linalg.add ins(%o, %x : tensor<1x4x?x64xf16>, tensor<1x4x?x64xf16>)
                    outs(%empty : tensor<1x4x?x64xf16>) -> tensor<1x4x?x64xf16>
  return %sum : tensor<1x4x?x64xf16>
}
