/** `in_app` and `module` of Sentry SDKs (contract 21, Sentry SDK intake); untrusted. */
import type { Json } from '../../../../ports/store/index.js';

interface FrameOwner {
  own: boolean;
  name: string;
}

type Fields = { [key: string]: Json | undefined };

const MAX_FRAMES = 500;
const MAX_TEXT_LENGTH = 2048;

const toText = (value: Json | undefined): string => (typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH) : '');

/** `cart/cart.go:41`: paths may have different roots. */
export function toLocationKeys(path: string, line: Json | undefined): string[] {
  const segments = path.split(/[\\/]/).filter((segment) => segment !== '');
  const number = typeof line === 'number' ? line : 0;
  const last = segments.at(-1);
  return last === undefined ? [] : [`${segments.slice(-2).join('/')}:${number}`, `${last}:${number}`];
}

/** `github.com/acme/x` for Go, `com.acme` for Java, `requests` for Python. */
function getLibraryName(frame: Fields): string {
  const module = toText(frame['module']);
  if (module.includes('/')) return module.split('/', 3).join('/');
  const [first = '', second] = module.split('.');
  if (first !== '')
    return second !== undefined && /^(?:com|org|net|io|de|dev)$/.test(first) ? `${first}.${second}` : first;
  return /[^\\/]*$/.exec(toText(frame['package']))?.[0] || 'library';
}

export class FrameOwnerIndex {
  readonly #byPlace = new Map<string, FrameOwner | null>();
  /** False when every frame is in-app, as some SDKs report. */
  readonly #isReliable: boolean;

  constructor(context: Json | undefined) {
    const given = (context as Fields | null | undefined)?.['frames'];
    const frames = (Array.isArray(given) ? given.slice(0, MAX_FRAMES) : []).filter(
      (frame): frame is { [key: string]: Json } =>
        typeof frame === 'object' && frame !== null && !Array.isArray(frame) && typeof frame['in_app'] === 'boolean',
    );
    this.#isReliable = frames.some((frame) => frame['in_app'] === false);
    if (this.#isReliable) for (const frame of frames) this.#add(frame);
  }

  #add(frame: Fields): void {
    const owner = { own: frame['in_app'] === true, name: getLibraryName(frame) };
    const paths = ['filename', 'abs_path', 'package', 'module'].map((name) => toText(frame[name]));
    for (const key of new Set(paths.flatMap((path) => toLocationKeys(path, frame['lineno'])))) {
      const before = this.#byPlace.get(key);
      // Shared by an application and a library frame: no owner.
      this.#byPlace.set(key, before === undefined || before?.own === owner.own ? owner : null);
    }
  }

  find(file: string | null, line: number | null): FrameOwner | undefined {
    if (!this.#isReliable || file === null) return undefined;
    for (const key of toLocationKeys(file, line ?? 0)) {
      const owner = this.#byPlace.get(key);
      if (owner !== undefined && owner !== null) return owner;
    }
    return undefined;
  }
}
