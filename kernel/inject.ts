/**
 * `@inject`, checked by the compiler: a parameter must take what its key gives. A key is a class (its one instance in
 * the plugin's container) or a token (a value that was bound). tsyringe does the injecting; its own `inject` accepts
 * any key at any parameter.
 */
// tsyringe's decorators need it before any of them runs.
import 'reflect-metadata';
import { inject as injectAt, type InjectionToken } from 'tsyringe';
import type { Token } from '../ports/token.js';

// Through this module, so that it finds the polyfill loaded whoever is first to import the contract.
export { injectable } from 'tsyringe';

export type Class<T> = abstract new (...args: never[]) => T;

/** The key of a value of type `T` in a plugin's container. */
export type Key<T> = Class<T> | Token<T>;

/** What the compiler shows where a key does not fit its parameter. */
interface Mismatch<Given, Taken> {
  'the key gives': Given;
  'the parameter takes': Taken;
}

/** TypeScript gives a parameter decorator the class and the position as a literal type, and so the parameter's type. */
export type Injection<T> = <C extends Class<unknown>, I extends number>(
  target: T extends ConstructorParameters<C>[I] ? C : C & Mismatch<T, ConstructorParameters<C>[I]>,
  member: undefined,
  index: I,
) => void;

/** Names what a constructor's parameter gets; on every parameter of an `@injectable()` class. */
export function inject<T>(key: Key<T>): Injection<T> {
  const token = injectionToken(key);
  return (target, member, index) => injectAt(token)(target, member, index);
}

/** As tsyringe knows the key: a class as itself, a token by its name. @throws TypeError for nothing */
export function injectionToken<T>(key: Key<T>): InjectionToken<T> {
  if (typeof key === 'function') return key as unknown as InjectionToken<T>;
  if (typeof (key as Partial<Token<T>> | undefined)?.name === 'string') return key.name;
  throw new TypeError('@inject names nothing: is the port misspelt (`PORT.…`), or do two modules import each other?');
}
