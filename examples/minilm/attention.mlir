// The self-attention of layer 3 of a sentence-embedding model (12 heads of 32)
// over two paragraphs of 129 and 45 tokens: README.md says where the arrays
// come from. The padding of the shorter paragraph is its kv_lengths entry.
func.func @minilm(%q: tensor<2x12x?x32xf16>, %k: tensor<2x12x?x32xf16>,
                  %v: tensor<2x12x?x32xf16>, %lengths: tensor<2xi32>)
    -> tensor<2x12x?x32xf16> {
  %o = fa.attention %q, %k, %v kv_lengths(%lengths : tensor<2xi32>)
       : tensor<2x12x?x32xf16>, tensor<2x12x?x32xf16>, tensor<2x12x?x32xf16>
         -> tensor<2x12x?x32xf16>
  return %o : tensor<2x12x?x32xf16>
}
