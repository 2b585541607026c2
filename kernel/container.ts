/**
 * Constructor injection with tsyringe: a container per plugin below one per kernel, nothing global.
 */
import 'reflect-metadata';
import { container, Lifecycle, type DependencyContainer, type InjectionToken } from 'tsyringe';
import { toInjectionToken, type Class, type Key } from './inject.js';

const INJECTION_METADATA_KEY = 'injectionTokens';

type Constructor = Extract<InjectionToken<unknown>, abstract new (...args: never[]) => unknown>;

export type Instances<R extends Readonly<Record<string, Class<unknown>>>> = {
  -readonly [N in keyof R]: R[N] extends Class<infer T> ? T : never;
};

export class ContainerScope {
  readonly #container: DependencyContainer;

  private constructor(parent: DependencyContainer, values: Readonly<Record<string, unknown>>) {
    this.#container = parent.createChildContainer();
    // A factory also returns null, which tsyringe takes for no value.
    for (const [name, value] of Object.entries(values)) this.#container.register(name, { useFactory: () => value });
  }

  static createRoot(values: Readonly<Record<string, unknown>> = {}): ContainerScope {
    return new ContainerScope(container, values);
  }

  createChild(values: Readonly<Record<string, unknown>>): ContainerScope {
    return new ContainerScope(this.#container, values);
  }

  bind<T>(key: Key<T>, value: T): void {
    this.#container.register<T>(toInjectionToken(key), { useFactory: () => value });
  }

  /**
   * @throws Error naming a parameter without `@inject(…)`, a token without a value, or a full
   *   dependency cycle
   */
  services<R extends Readonly<Record<string, Class<unknown>>>>(classes: R): Instances<R> {
    const made = Object.entries(classes).map(([name, type]) => [name, this.#resolve(type)]);
    return Object.fromEntries(made) as Instances<R>;
  }

  #resolve<T>(type: Class<T>): T {
    if (!this.#container.isRegistered(toInjectionToken(type))) {
      this.#prepare(type, []);
      this.#register(type);
    }
    return this.#container.resolve<T>(toInjectionToken(type));
  }

  #register(type: Class<unknown>): void {
    const useClass = type as unknown as Constructor;
    this.#container.register(useClass, { useClass }, { lifecycle: Lifecycle.Singleton });
  }

  #prepare(type: Class<unknown>, path: readonly Class<unknown>[]): void {
    if (path.includes(type)) {
      const circle = [...path.slice(path.indexOf(type)), type].map(({ name }) => name);
      throw new Error(`services have a dependency cycle: ${circle.join(' → ')}`);
    }
    for (const key of getParameterKeys(type)) {
      if (typeof key === 'string') {
        if (!this.#container.isRegistered(key, true))
          throw new Error(
            `${type.name}: its constructor needs "${key}", which is not bound: check that the manifest declares it`,
          );
      } else if (!this.#container.isRegistered(key)) {
        this.#prepare(key, [...path, type]);
        this.#register(key);
      }
    }
  }
}

/** A transpiler that drops decorator metadata would silently inject undefined. */
function getParameterKeys(type: Class<unknown>): (string | Constructor)[] {
  const noted = (Reflect.getOwnMetadata(INJECTION_METADATA_KEY, type) ?? {}) as Record<
    string,
    { token: string | Constructor } | undefined
  >;
  return Array.from({ length: type.length }, (_, i) => {
    const key = noted[i]?.token;
    if (key === undefined) throw new Error(`${type.name}: parameter ${i + 1} of its constructor has no @inject(…)`);
    return key;
  });
}
