/**
 * The owner of a frame, where the reporter states it: frames of Sentry's SDKs have `in_app` and `module` (contract 21,
 * Sentry SDK intake), and lie beside the text of the stack in the occurrence's context. All of it came from outside.
 * Pure.
 */
import type { Json } from '../../../../ports/store.js';

interface Owner {
  own: boolean;
  /** The name of the library. */
  name: string;
}

type Fields = { [key: string]: Json | undefined };

const MAX_FRAMES = 500;
const MAX_LENGTH = 2048;

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value.slice(0, MAX_LENGTH) : '');

/** Keys of a place, `cart/cart.go:41`: paths of a text and of a frame may begin in different places. */
export function keysOf(path: string, line: Json | undefined): string[] {
  const segments = path.split(/[\\/]/).filter((segment) => segment !== '');
  const number = typeof line === 'number' ? line : 0;
  const last = segments.at(-1);
  return last === undefined ? [] : [`${segments.slice(-2).join('/')}:${number}`, `${last}:${number}`];
}

/** The library's name: `github.com/acme/x` of Go, `com.acme` of Java, `requests` of Python. */
function nameOf(frame: Fields): string {
  const module = textOf(frame['module']);
  if (module.includes('/')) return module.split('/', 3).join('/');
  const [first = '', second] = module.split('.');
  if (first !== '')
    return second !== undefined && /^(?:com|org|net|io|de|dev)$/.test(first) ? `${first}.${second}` : first;
  return /[^\\/]*$/.exec(textOf(frame['package']))?.[0] || 'library';
}

export class FrameOwners {
  readonly #byPlace = new Map<string, Owner | null>();
  /** False when every frame is said to be the application's, as by some SDKs: then the statement is worthless. */
  readonly #tells: boolean;

  /** @param context of an occurrence */
  constructor(context: Json | undefined) {
    const given = (context as Fields | null | undefined)?.['frames'];
    const frames = (Array.isArray(given) ? given.slice(0, MAX_FRAMES) : []).filter(
      (frame): frame is { [key: string]: Json } =>
        typeof frame === 'object' && frame !== null && !Array.isArray(frame) && typeof frame['in_app'] === 'boolean',
    );
    this.#tells = frames.some((frame) => frame['in_app'] === false);
    if (this.#tells) for (const frame of frames) this.#note(frame);
  }

  #note(frame: Fields): void {
    const owner = { own: frame['in_app'] === true, name: nameOf(frame) };
    const paths = ['filename', 'abs_path', 'package', 'module'].map((name) => textOf(frame[name]));
    for (const key of new Set(paths.flatMap((path) => keysOf(path, frame['lineno'])))) {
      const before = this.#byPlace.get(key);
      // Two frames share this name and line, and only one is the application's: then the place tells nothing.
      this.#byPlace.set(key, before === undefined || before?.own === owner.own ? owner : null);
    }
  }

  /** The owner; undefined where none is stated. @param file as the stack's text names it */
  of(file: string | null, line: number | null): Owner | undefined {
    if (!this.#tells || file === null) return undefined;
    for (const key of keysOf(file, line ?? 0)) {
      const owner = this.#byPlace.get(key);
      if (owner !== undefined && owner !== null) return owner;
    }
    return undefined;
  }
}
