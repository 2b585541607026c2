/**
 * A source map that has been read, with the functions of its script. Mappings are decoded by
 * `@jridgewell/trace-mapping`; every number that it gives is looked up as one that may lead nowhere. Pure.
 */
import { AnyMap, originalPositionFor, sourceContentFor, type TraceMap } from '@jridgewell/trace-mapping';
import { MapRefused, type ScriptPosition, type SourcePosition } from '../../ports/source-maps/reader.js';
import { functionAt, functionsOf, type ScriptFunction } from './functions.js';

/** Lines of source on each side (contract 21, Beyond the specification: what JavaScript and releases need). */
const AROUND = 5;
/** Characters of a line; of a path; of a name. */
const LONGEST_LINE = 300;
const LONGEST_PATH = 500;
const LONGEST_NAME = 200;

const NAME = /^#?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]{0,199}/u;
const SCHEME = /^[a-z][a-z0-9+.-]{0,30}:\/{0,3}/i;

interface Place {
  source: string;
  line: number;
  column: number;
  name: string | null;
}

/** `src/cart.ts` of `webpack://shop/./src/cart.ts?4f2a` and of `../../src/cart.ts`. */
export function fileOf(source: string): string {
  const webpack = /^webpack:\/\/(?:[^/]{0,200}\/)?/i.exec(source);
  const path = source.slice(webpack?.[0].length ?? SCHEME.exec(source)?.[0].length ?? 0).split(/[?#]/, 1)[0] ?? '';
  const named = path.replaceAll('\\', '/').replace(/^(?:\.{0,2}\/){1,50}/, '');
  return (named === '' ? source : named).slice(-LONGEST_PATH);
}

export class LoadedMap {
  readonly #map: TraceMap;
  readonly #lines: readonly number[];
  readonly #functions: readonly ScriptFunction[] | null;

  /** @throws MapRefused */
  constructor(map: string, script: string | null) {
    this.#map = traced(map);
    this.#lines = script === null ? [] : lineStarts(script);
    this.#functions = script === null ? null : functionsOf(script);
  }

  /** Null: the map knows nothing of the place. */
  locate({ line, column }: ScriptPosition): SourcePosition | null {
    const place = this.#place(line, column - 1);
    if (place === null) return null;
    return {
      file: fileOf(place.source),
      line: place.line,
      column: place.column + 1,
      function: this.#functionAround(line, column - 1),
      source: this.#around(place),
    };
  }

  #place(line: number, column: number): Place | null {
    if (line < 1 || column < 0) return null;
    const found = originalPositionFor(this.#map, { line, column });
    if (typeof found.source !== 'string' || !Number.isSafeInteger(found.line) || found.line < 1) return null;
    return { source: found.source, line: found.line, column: found.column, name: found.name };
  }

  #around({ source, line }: Place): SourcePosition['source'] {
    const content = sourceContentFor(this.#map, source);
    if (typeof content !== 'string') return null;
    const lines = linesOf(content, Math.max(1, line - AROUND), line + AROUND);
    const at = Math.min(AROUND, line - 1);
    const own = lines[at];
    return own === undefined ? null : { before: lines.slice(0, at), line: own, after: lines.slice(at + 1) };
  }

  #functionAround(line: number, column: number): string | null {
    const start = this.#lines[line - 1];
    if (this.#functions === null || start === undefined) return null;
    const found = functionAt(this.#functions, start + column);
    if (found === null) return null;
    const owner = found.owner === null ? null : this.#nameAt(found.owner);
    if (found.constructs) return owner === null ? 'constructor' : `new ${owner}`;
    const name = found.name === null ? null : this.#nameAt(found.name);
    return name === null || owner === null ? name : `${owner}.${name}`;
  }

  /** As it was written: by the map's names, else by the word that the source has there. */
  #nameAt({ offset, text }: { offset: number; text: string | null }): string | null {
    const line = lineAt(this.#lines, offset);
    const place = this.#place(line, offset - (this.#lines[line - 1] ?? 0));
    if (place?.name) return place.name.slice(0, LONGEST_NAME);
    if (text !== null) return text.slice(0, LONGEST_NAME);
    if (place === null) return null;
    const content = sourceContentFor(this.#map, place.source);
    if (typeof content !== 'string') return null;
    const [written = ''] = linesOf(content, place.line, place.line, Infinity);
    return NAME.exec(written.slice(place.column, place.column + LONGEST_NAME))?.[0] ?? null;
  }
}

/** @throws MapRefused */
function traced(text: string): TraceMap {
  let map: unknown;
  try {
    map = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    throw new MapRefused('is no JSON');
  }
  if (map === null || typeof map !== 'object' || !('mappings' in map || 'sections' in map)) {
    throw new MapRefused('is no source map');
  }
  try {
    return new AnyMap(map as ConstructorParameters<typeof AnyMap>[0]);
  } catch {
    throw new MapRefused('is damaged');
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The line, from 1, that holds the offset. */
function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

/** The lines from `first` to `last`, those that there are. */
function linesOf(text: string, first: number, last: number, longest = LONGEST_LINE): string[] {
  const lines: string[] = [];
  let at = 0;
  for (let line = 1; line <= last && at <= text.length; line++) {
    const end = text.indexOf('\n', at);
    const to = end < 0 ? text.length : end;
    if (line >= first) lines.push(text.slice(at, Math.min(to, at + longest)).replace(/\r$/, ''));
    at = to + 1;
  }
  return lines;
}
