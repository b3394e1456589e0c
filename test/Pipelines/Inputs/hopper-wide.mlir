func.func @plain192(%q: tensor<?x?x?x192xf16>, %k: tensor<?x?x?x192xf16>, %v: tensor<?x?x?x192xf16>) -> tensor<?x?x?x192xf16> {
  %o = fa.attention %q, %k, %v : tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16>, tensor<?x?x?x192xf16> -> tensor<?x?x?x192xf16>
  return %o : tensor<?x?x?x192xf16>
}
func.func @plain256(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>, %v: tensor<?x?x?x256xf16>) -> tensor<?x?x?x256xf16> {
  %o = fa.attention %q, %k, %v : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16> -> tensor<?x?x?x256xf16>
  return %o : tensor<?x?x?x256xf16>
}
func.func @causal256(%q: tensor<?x?x?x256xf16>, %k: tensor<?x?x?x256xf16>, %v: tensor<?x?x?x256xf16>) -> tensor<?x?x?x256xf16> {
  %o = fa.attention %q, %k, %v masks [#fa.causal<top_left>] : tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16>, tensor<?x?x?x256xf16> -> tensor<?x?x?x256xf16>
  return %o : tensor<?x?x?x256xf16>
}
