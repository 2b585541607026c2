/** An untested rewrite: each order goes through one of seven steps. */
const steps = [
  function taxOf(order) {
    return order.country.tax;
  },
  function shippingOf(order) {
    return order.parcel.weight.toFixed(2);
  },
  function stockOf(order) {
    return order.lines[9].pieces;
  },
  function receiptOf(order) {
    return order.print();
  },
  function toPoints(order) {
    return 'x'.repeat(order.lines[0].price - 1_000);
  },
  function letterOf(order) {
    return JSON.parse(`{${order.number}`);
  },
  function signatureOf() {
    return decodeURIComponent('%');
  },
];

export function totalOf(order, count) {
  return steps[count % steps.length](order);
}
