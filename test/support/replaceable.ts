/**
 * Returns values that forward to the members of `deps`, so that a test can replace a function or an
 * object of `deps` after services were built with them.
 */
export function toReplaceable<T extends object>(deps: T): T {
  const forwarded = Object.entries(deps).map(([name, value]: [string, unknown]) => {
    const getCurrent = (): object => Reflect.get(deps, name) as object;
    if (typeof value === 'function')
      return [name, (...args: unknown[]) => (getCurrent() as (...all: unknown[]) => unknown)(...args)];
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value) || Array.isArray(value))
      return [name, value];
    return [name, new Proxy({}, { get: (_, member) => getMember(getCurrent(), member) })];
  });
  return Object.fromEntries(forwarded) as T;
}

/** Methods of classes with private fields need their own object as `this`. */
function getMember(owner: object, member: string | symbol): unknown {
  const found: unknown = Reflect.get(owner, member);
  return typeof found === 'function' ? found.bind(owner) : found;
}
