/**
 * Constructor injection: one child container per plugin below one per kernel. The only file that touches tsyringe's
 * container. Nothing is registered in the global one, so two kernels in one process share nothing.
 *
 * A class is its own key: what a constructor names by `@inject(Items)` is the container's one instance of `Items`, made
 * before its dependents. Rejected: `@singleton()`, which registers globally and at import time; a constant and a line
 * in an ordered list for each class, which repeat what the constructors say.
 */
import 'reflect-metadata';
import { container, Lifecycle, type DependencyContainer, type InjectionToken } from 'tsyringe';
import { injectionToken, type Class, type Key } from './inject.js';

/** Where tsyringe's `@inject` notes its keys, by position. */
const KEYS = 'injectionTokens';

type Constructor = Extract<InjectionToken<unknown>, abstract new (...args: never[]) => unknown>;

/** Instances of the classes of a record, by the record's names. */
export type Instances<R extends Readonly<Record<string, Class<unknown>>>> = {
  -readonly [N in keyof R]: R[N] extends Class<infer T> ? T : never;
};

/** Values and classes of one plugin, or values for all of them. */
export class Scope {
  readonly #container: DependencyContainer;

  private constructor(parent: DependencyContainer, values: Readonly<Record<string, unknown>>) {
    this.#container = parent.createChildContainer();
    for (const [name, value] of Object.entries(values)) this.#container.register(name, { useValue: value });
  }

  /** A root of its own. @param values by the names of their tokens */
  static root(values: Readonly<Record<string, unknown>> = {}): Scope {
    return new Scope(container, values);
  }

  /** Sees this scope's names; its own come first. */
  child(values: Readonly<Record<string, unknown>>): Scope {
    return new Scope(this.#container, values);
  }

  /** For a token its value; for a class something else in its place, as tests need it. */
  bind<T>(key: Key<T>, value: T): void {
    this.#container.register<T>(injectionToken(key), { useValue: value });
  }

  /**
   * One instance of each class, made with everything that its constructor names, and theirs.
   * @throws Error naming a parameter without `@inject(…)`, a token without a value, or a circle in full
   */
  services<R extends Readonly<Record<string, Class<unknown>>>>(classes: R): Instances<R> {
    const made = Object.entries(classes).map(([name, type]) => [name, this.#instance(type)]);
    return Object.fromEntries(made) as Instances<R>;
  }

  #instance<T>(type: Class<T>): T {
    if (!this.#container.isRegistered(injectionToken(type))) {
      this.#prepare(type, []);
      this.#register(type);
    }
    return this.#container.resolve<T>(injectionToken(type));
  }

  /** Made once, in this container. */
  #register(type: Class<unknown>): void {
    const useClass = type as unknown as Constructor;
    this.#container.register(useClass, { useClass }, { lifecycle: Lifecycle.Singleton });
  }

  /** Registers what `type` needs, depth first. @param path the classes that led here */
  #prepare(type: Class<unknown>, path: readonly Class<unknown>[]): void {
    if (path.includes(type)) {
      const circle = [...path.slice(path.indexOf(type)), type].map(({ name }) => name);
      throw new Error(`services need each other in a circle: ${circle.join(' → ')}`);
    }
    for (const key of getParameterKeys(type)) {
      if (typeof key === 'string') {
        if (!this.#container.isRegistered(key, true))
          throw new Error(
            `${type.name}: its constructor needs "${key}", which is not bound: does the manifest declare it?`,
          );
      } else if (!this.#container.isRegistered(key)) {
        this.#prepare(key, [...path, type]);
        this.#register(key);
      }
    }
  }
}

/**
 * What the constructor's parameters name. A transpiler without decorator metadata would else inject undefined,
 * silently.
 */
function getParameterKeys(type: Class<unknown>): (string | Constructor)[] {
  const noted = (Reflect.getOwnMetadata(KEYS, type) ?? {}) as Record<
    string,
    { token: string | Constructor } | undefined
  >;
  return Array.from({ length: type.length }, (_, i) => {
    const key = noted[i]?.token;
    if (key === undefined) throw new Error(`${type.name}: parameter ${i + 1} of its constructor has no @inject(…)`);
    return key;
  });
}
