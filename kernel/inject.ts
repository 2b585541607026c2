/** `@inject` with compile-time checks: a parameter's type must match its key. */
// tsyringe's decorators require the polyfill to be loaded first.
import 'reflect-metadata';
import { inject as injectAt, type InjectionToken } from 'tsyringe';
import type { Token, TokenValues } from '../ports/token.js';

// Exported from here, so that the polyfill is always loaded first.
export { injectable } from 'tsyringe';

export type Class<T> = abstract new (...args: never[]) => T;

export type Key<T> = Class<T> | Token<T>;

/** Shown by the compiler when a key does not match its parameter. */
interface Mismatch<Given, Taken> {
  'the key gives': Given;
  'the parameter takes': Taken;
}

/** Parameter decorator that checks the parameter's type against the key. */
export type Injection<T> = <C extends Class<unknown>, I extends number>(
  target: T extends ConstructorParameters<C>[I] ? C : C & Mismatch<T, ConstructorParameters<C>[I]>,
  member: undefined,
  index: I,
) => void;

export function inject<T>(key: Key<T>): Injection<T> {
  const token = toInjectionToken(key);
  return (target, member, index) => injectAt(token)(target, member, index);
}

/** Binds a value to each token of a record. */
export function bindAll<R extends Readonly<Record<string, Token<unknown>>>>(
  scope: { bind<T>(key: Key<T>, value: T): void },
  tokens: R,
  values: TokenValues<R>,
): void {
  for (const [name, key] of Object.entries(tokens)) scope.bind(key, values[name as keyof R]);
}

export function toInjectionToken<T>(key: Key<T>): InjectionToken<T> {
  if (typeof key === 'function') return key as unknown as InjectionToken<T>;
  if (typeof (key as Partial<Token<T>> | undefined)?.name === 'string') return key.name;
  throw new TypeError(
    '@inject has no key: check the spelling of the port (`PORT.…`), and that no two modules import each other',
  );
}
