/**
 * Typed names of services, event types and extension points; plain data, so plugins with another
 * copy of this module are compatible.
 */

/** Name of a service of type `T`: `'bugs.api'`. */
export interface Token<T> {
  readonly name: string;
  /** Never set; carries `T` for the compiler. */
  readonly type?: T;
}

/** The values of a record of tokens. */
export type TokenValues<R extends Readonly<Record<string, Token<unknown>>>> = {
  -readonly [N in keyof R]: R[N] extends Token<infer T> ? T : never;
};

/** An event with `data` of type `T`: `'bug.created'`. */
export interface EventType<T> {
  readonly event: string;
  readonly type?: T;
}

export function token<T>(name: string): Token<T> {
  return { name };
}

export function event<T>(name: string): EventType<T> {
  return { event: name };
}

/** Point where other plugins add values of type `T`. */
export interface ExtensionPoint<T> {
  readonly point: string;
  readonly type?: T;
}

/** Value added to an extension point. */
export interface Extension {
  readonly point: string;
  readonly value: unknown;
}

export function extensionPoint<T>(name: string): ExtensionPoint<T> {
  return { point: name };
}

/** Adds `value` to `point`. */
export function extend<T>({ point }: ExtensionPoint<T>, value: T): Extension {
  return { point, value };
}

/** Plugin that resolves a service. */
export interface RequestingPlugin {
  id: string;
  title: string;
}

/** Shared across copies of this module. */
const PER_PLUGIN = Symbol.for('aos.PerPlugin');

/** A service instantiated per requesting plugin. */
export interface PerPlugin<T> {
  readonly [PER_PLUGIN]: (plugin: RequestingPlugin) => T;
}

/** Creates a service with an instance per requesting plugin. */
export const perPlugin = <T>(make: (plugin: RequestingPlugin) => T): PerPlugin<T> => ({ [PER_PLUGIN]: make });

/** Returns the instance of `provided` for a plugin. */
export function resolveService(provided: unknown, plugin: RequestingPlugin): unknown {
  if (provided === null || typeof provided !== 'object' || !(PER_PLUGIN in provided)) return provided;
  return (provided as PerPlugin<unknown>)[PER_PLUGIN](plugin);
}
