// One query over three visible keys, by hand: the scores q.k are (1, 0 | 2),
// the values (10, 20 | 30), scale = ln 2, so the weights are (2, 1 | 4).
// Keys 2 to 15 are masked; key 16 opens the second block of 16 keys.
// The state after the first block is m = ln 2, l = 1.5, u = 20, after the
// second m = ln 4, l = 1.75, u = 40, and the result u / l = 160/7.
// The arrays beside this file are made by utils/make-worked-example.py.
func.func @worked(%q: tensor<1x1x1x16xf16>, %k: tensor<1x1x17x16xf16>,
                  %v: tensor<1x1x17x16xf16>, %mask: tensor<1x1x1x17xi1>)
    -> tensor<1x1x1x16xf32> {
  %o = fa.attention %q, %k, %v scale(0.6931471805599453)
         mask(%mask : tensor<1x1x1x17xi1>)
         {schedule = #fa.schedule<tile_kv = 16>}
       : tensor<1x1x1x16xf16>, tensor<1x1x17x16xf16>, tensor<1x1x17x16xf16>
         -> tensor<1x1x1x16xf32>
  return %o : tensor<1x1x1x16xf32>
}
