export function totalOf(order) {
  const sum = order.lines.reduce((total, { price, pieces }) => total + price * pieces, 0);
  return sum * (1 - (order.coupon?.percent ?? 0) / 100);
}
