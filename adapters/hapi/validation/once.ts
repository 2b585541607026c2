/**
 * What `make` gives, made when it is first asked for and kept from then on, `undefined` too. A `make` that throws is
 * asked again.
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
