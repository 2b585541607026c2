/**
 * Typed names. A token names a service that one plugin provides and others ask for; an event type names the shape
 * of an event's data; an extension point names what others may add to a plugin. All are plain data: two with the same
 * name are the same, so a plugin written in plain JavaScript, or loaded from another copy of this module, meets ours.
 */

/** The name of a service of type `T`, for example `'bugs.api'`. */
export interface Token<T> {
  readonly name: string;
  /** Never set: carries `T` for the compiler. */
  readonly type?: T;
}

/** The name of an event whose `data` is `T`, for example `'bug.created'`. */
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

/**
 * A place where other plugins add values of type `T` to the plugin that offers it, for example `'bugs.item_actions'`.
 */
export interface ExtensionPoint<T> {
  readonly point: string;
  readonly type?: T;
}

/** What a plugin adds to an extension point. */
export interface Extension {
  readonly point: string;
  readonly value: unknown;
}

export function extensionPoint<T>(name: string): ExtensionPoint<T> {
  return { point: name };
}

/** `value` for `point`, of the type that the point takes. */
export function extend<T>({ point }: ExtensionPoint<T>, value: T): Extension {
  return { point, value };
}

/** The plugin that asks for a service. */
export interface AskingPlugin {
  id: string;
  title: string;
}

/** Known across copies of this module: a plugin may bring its own copy. */
const PER_PLUGIN = Symbol.for('aos.PerPlugin');

/** A service that is made for each plugin that asks for it, and so knows in whose name it acts. */
export interface PerPlugin<T> {
  readonly [PER_PLUGIN]: (plugin: AskingPlugin) => T;
}

/** A value for `services`: every plugin that resolves its token gets one of its own. */
export const perPlugin = <T>(make: (plugin: AskingPlugin) => T): PerPlugin<T> => ({ [PER_PLUGIN]: make });

/** What a plugin gets where `provided` was provided. */
export function serviceFor(provided: unknown, plugin: AskingPlugin): unknown {
  if (provided === null || typeof provided !== 'object' || !(PER_PLUGIN in provided)) return provided;
  return (provided as PerPlugin<unknown>)[PER_PLUGIN](plugin);
}
