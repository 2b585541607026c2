/**
 * Loaded into a service with `--import`. Logs each `Intl` object that is created, and its caller,
 * to the file `INTL_SEEN`. The first one makes Node load its language tables.
 */
import { appendFileSync } from 'node:fs';

type Method = (...args: unknown[]) => unknown;

const file = process.env['INTL_SEEN'];

function recordUse(name: string): void {
  const callers = (new Error(name).stack ?? '').split('\n').slice(3, 7);
  appendFileSync(file as string, `${name}${callers.map((line) => ` < ${line.trim()}`).join('')}\n`);
}

/** Methods that create an `Intl` object implicitly. */
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
        recordUse(name);
        return Reflect.construct(target, args, given) as object;
      },
      apply(target, self, args) {
        recordUse(name);
        return Reflect.apply(target, self, args);
      },
    });
  }
  for (const [owner, names] of METHODS) {
    for (const name of names) {
      const own = Reflect.get(owner, name) as Method;
      const noted = function (this: unknown, ...args: unknown[]): unknown {
        recordUse(name);
        return own.apply(this, args);
      };
      Reflect.defineProperty(owner, name, { value: noted, writable: true, configurable: true });
    }
  }
}
