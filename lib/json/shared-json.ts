/**
 * Objects that stand in many values as the very same object, because they come again and again, as the frames of a
 * storm do. Nobody changes one, so whoever has found something out about it need not look again.
 */
const shared = new WeakSet<object>();

/** The object, frozen, for use in many values. @param value within which nothing is changed any more either */
export function share<T extends object>(value: T): T {
  shared.add(Object.freeze(value));
  return value;
}

export const isShared = (value: object): boolean => shared.has(value);
