/**
 * Typed names. A token stands for a service that one plugin provides and others ask for; an event type stands for the
 * shape of an event's data. Both are plain data: two tokens with the same name are the same token, so a plugin written
 * in plain JavaScript, or loaded from another copy of this module, meets ours.
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
