// Compiles against the installed headers and links the installed libraries.
#include "fa/Reference/Attention.h"
#include "fa/Support/ExtentExpression.h"

#include <cstdio>

int main() {
  auto blocks = farun::evaluateExtent("ceildiv(Sq, 128)", {{"Sq", 129}});
  auto refused = faref::attention(faref::Problem{}, faref::Options{});
  if (!blocks || *blocks != 2 || refused)
    return 1;
  std::puts("installed libraries answer");
  return 0;
}
