/** From the occurrence's untrusted context (contract 21, Sentry SDK intake). */
import type { Json } from '../../../../ports/store/index.js';
import { toLocationKeys } from './frame-owners.js';

type Fields = { [key: string]: Json | undefined };

export interface CodeLine {
  at: number;
  text: string;
  here: boolean;
}

export interface FrameValue {
  code: CodeLine[];
  locals: { [key: string]: Json } | null;
}

const MAX_FRAMES = 500;
const MAX_LINES = 41;
const MAX_LINE_LENGTH = 500;

const isFields = (value: unknown): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class FrameValueIndex {
  readonly #byPlace = new Map<string, FrameValue>();
  readonly #crash: FrameValue | null;

  constructor(context: Json | undefined) {
    const given: Fields = isFields(context) ? context : {};
    this.#crash = toFrameValue(given, null);
    const frames = Array.isArray(given['frames']) ? given['frames'].slice(0, MAX_FRAMES).filter(isFields) : [];
    for (const frame of frames) {
      const line = typeof frame['lineno'] === 'number' ? frame['lineno'] : null;
      const value = toFrameValue(frame, line);
      if (value !== null) this.#add(frame, value);
    }
  }

  #add(frame: Fields, value: FrameValue): void {
    for (const name of ['filename', 'abs_path', 'module']) {
      const path = frame[name];
      if (typeof path !== 'string') continue;
      // Innermost first; a recursion repeats the location.
      for (const key of toLocationKeys(path.slice(-2048), frame['lineno']))
        if (!this.#byPlace.has(key)) this.#byPlace.set(key, value);
    }
  }

  find(file: string | null, line: number | null, crash: boolean): FrameValue | null {
    if (crash && this.#crash !== null) return markLine(this.#crash, line);
    if (file === null) return null;
    for (const key of toLocationKeys(file, line ?? 0)) {
      const value = this.#byPlace.get(key);
      if (value !== undefined) return value;
    }
    return null;
  }
}

const markLine = ({ code, locals }: FrameValue, line: number | null): FrameValue => ({
  code: code.map((one) => ({ ...one, here: one.at === line })),
  locals,
});

function toFrameValue(fields: Fields, line: number | null): FrameValue | null {
  const { source, locals } = fields;
  const code = isFields(source)
    ? Object.entries(source)
        .flatMap(([at, text]) => (/^\d{1,9}$/.test(at) && typeof text === 'string' ? [{ at: Number(at), text }] : []))
        .slice(0, MAX_LINES)
        .map(({ at, text }) => ({ at, text: text.slice(0, MAX_LINE_LENGTH), here: at === line }))
    : [];
  const own = isFields(locals) && Object.keys(locals).length > 0 ? locals : null;
  return code.length === 0 && own === null ? null : { code, locals: own };
}
