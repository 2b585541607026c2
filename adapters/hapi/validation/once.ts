/**
 * The value of `make`, made at the first call and kept from then on, `undefined` too. A `make` that throws is called
 * again.
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
