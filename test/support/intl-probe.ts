/**
 * Loaded into a service before its own code (`--import`): names each object of `Intl` that is made, and who made it, in
 * the file `INTL_SEEN`. The first loads Node's tables of languages: 8 MB that stay, and some milliseconds.
 */
import { appendFileSync } from 'node:fs';

type Method = (...args: unknown[]) => unknown;

const file = process.env['INTL_SEEN'];

function note(name: string): void {
  const callers = (new Error(name).stack ?? '').split('\n').slice(3, 7);
  appendFileSync(file as string, `${name}${callers.map((line) => ` < ${line.trim()}`).join('')}\n`);
}

/** What makes such an object without being called so. */
const METHODS: [owner: object, names: string[]][] = [
  [String.prototype, ['localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase']],
  [Date.prototype, ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']],
  [Number.prototype, ['toLocaleString']],
  [BigInt.prototype, ['toLocaleString']],
];

if (file !== undefined) {
  const classes = Intl as unknown as Record<string, unknown>;
  for (const name of Object.getOwnPropertyNames(Intl)) {
    const made = classes[name];
    if (typeof made !== 'function' || made.prototype === undefined) continue;
    classes[name] = new Proxy(made, {
      construct(target, args, given) {
        note(name);
        return Reflect.construct(target, args, given) as object;
      },
      apply(target, self, args) {
        note(name);
        return Reflect.apply(target, self, args);
      },
    });
  }
  for (const [owner, names] of METHODS) {
    for (const name of names) {
      const own = Reflect.get(owner, name) as Method;
      const noted = function (this: unknown, ...args: unknown[]): unknown {
        note(name);
        return own.apply(this, args);
      };
      Reflect.defineProperty(owner, name, { value: noted, writable: true, configurable: true });
    }
  }
}
