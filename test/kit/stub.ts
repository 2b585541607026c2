import type { Plugin, Token } from '../../kernel/contract/index.js';

/**
 * A plugin that provides `token` with these members and no others. One that the test did not give
 * throws with its name, so that a test cannot pass on an answer that nobody thought of.
 *
 * boot([stub(PROJECTS, { get: async (slug) => project(slug) }), plugin])
 */
export function stub<T extends object>({ name }: Token<T>, members: Partial<T> = {}): Plugin {
  const id = `stub${name.replaceAll(/[^a-z0-9]/g, '')}`.slice(0, 32);
  return {
    id,
    version: '1.0.0',
    api: 1,
    title: `Stands in for ${name}`,
    provides: [name],
    setup: () => ({ services: { [name]: throwOnMissing(name, members) } }),
  };
}

function throwOnMissing<T extends object>(name: string, members: Partial<T>): Partial<T> {
  return new Proxy(members, {
    get(target, key): unknown {
      if (key in target || typeof key === 'symbol' || key === 'then') return Reflect.get(target, key);
      return () => {
        throw new Error(`the stub of "${name}" has no member ${key}: give it to stub(…)`);
      };
    },
  });
}
