/**
 * Constructor injection: one child container per plugin below one per kernel, values bound by name. The only file that
 * touches tsyringe's container. Nothing is registered in the global one, so two kernels in one process share nothing.
 *
 * Rejected: `@singleton()` and class tokens, which register globally and at import time.
 */
import 'reflect-metadata';
import { container, type DependencyContainer, type InjectionToken } from 'tsyringe';

type Class<T> = new (...args: never[]) => T;

/** Where tsyringe's `@inject` notes its tokens, by position. */
const TOKENS = 'injectionTokens';

/** Names and values for one plugin, or for all of them. */
export class Scope {
  readonly #container: DependencyContainer;

  private constructor(parent: DependencyContainer, values: Readonly<Record<string, unknown>>) {
    this.#container = parent.createChildContainer();
    for (const [name, value] of Object.entries(values)) this.bind(name, value);
  }

  /** A root of its own. */
  static root(values: Readonly<Record<string, unknown>>): Scope {
    return new Scope(container, values);
  }

  /** Sees this scope's names; its own come first. */
  child(values: Readonly<Record<string, unknown>>): Scope {
    return new Scope(this.#container, values);
  }

  bind(name: string, value: unknown): void {
    this.#container.register(name, { useValue: value });
  }

  /** A new instance. @throws Error naming the parameter that has no `@inject(…)`, or the name that nobody bound. */
  construct<T>(type: Class<T>): T {
    const tokens = (Reflect.getOwnMetadata(TOKENS, type) ?? {}) as Record<string, unknown>;
    for (let i = 0; i < type.length; i++) {
      // A transpiler without decorator metadata would otherwise inject undefined, silently.
      if (tokens[i] === undefined)
        throw new Error(`${type.name}: parameter ${i + 1} of its constructor has no @inject(…)`);
    }
    return this.#container.resolve(type as InjectionToken<T>);
  }
}
