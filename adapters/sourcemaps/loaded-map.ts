/**
 * A parsed source map with the functions of its script. It holds the map's bytes and decodes only
 * what a lookup needs. Numbers in the map are untrusted and may point nowhere.
 */
import { isAscii } from 'node:buffer';
import type { ScriptPosition, SourcePosition } from '../../ports/source-maps/reader.js';
import { functionsOf, type NamePlace, type ScriptFunction, type ScriptFunctions } from './functions.js';
import { LIMITS } from './limits.js';
import { outlineOf, type MapSection, type PlainMap } from './map-outline.js';
import { MappingIndex } from './mapping-index.js';
import { spendUpTo, type Spend } from './spend.js';

/**
 * Context lines on each side (contract 21, Beyond the specification: what JavaScript and releases
 * need).
 */
const AROUND = 5;
const LONGEST_LINE = 300;
const LONGEST_PATH = 500;
const LONGEST_NAME = 200;

const NAME = /^#?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]{0,199}/u;
const SCHEME = /^[a-z][a-z0-9+.-]{0,30}:\/{0,3}/i;

interface Place {
  map: PlainMap;
  source: number;
  file: string;
  line: number;
  column: number;
  name: string | null;
}

interface IndexedSection extends MapSection {
  index: MappingIndex;
}

/** Returns `src/cart.ts` for `webpack://shop/./src/cart.ts?4f2a` and `../../src/cart.ts`. */
export function fileOf(source: string): string {
  const webpack = /^webpack:\/\/(?:[^/]{0,200}\/)?/i.exec(source);
  const path = source.slice(webpack?.[0].length ?? SCHEME.exec(source)?.[0].length ?? 0).split(/[?#]/, 1)[0] ?? '';
  const named = path.replaceAll('\\', '/').replace(/^(?:\.{0,2}\/){1,50}/, '');
  return (named === '' ? source : named).slice(-LONGEST_PATH);
}

export class LoadedMap {
  readonly #sections: readonly IndexedSection[];
  readonly #script: LoadedScript | null;
  readonly bytes: number;

  /** @throws MapRefused */
  constructor(map: Buffer, script: Buffer | null, spend: Spend) {
    this.#sections = outlineOf(map).map(({ line, column, map: part }) => {
      spend();
      return { line, column, map: part, index: new MappingIndex(part.mappings, spend) };
    });
    this.#script = script === null ? null : new LoadedScript(script);
    this.bytes =
      map.length +
      (this.#script?.bytes ?? 0) +
      this.#sections.reduce(
        (sum, { index, map: { sources, contents, names } }) =>
          sum + 1_000 + index.bytes + sources.bytes + contents.bytes + names.bytes,
        0,
      );
  }

  locate({ line, column }: ScriptPosition, spend: Spend): SourcePosition | null {
    spend();
    const place = this.#place(line, column - 1);
    if (place === null) return null;
    return {
      file: fileOf(place.file),
      line: place.line,
      column: place.column + 1,
      function: this.#functionAround(line, column - 1),
      source: this.#around(place),
    };
  }

  #place(line: number, column: number): Place | null {
    if (line < 1 || column < 0) return null;
    const section = this.#sections.findLast(
      (one) => one.line < line - 1 || (one.line === line - 1 && one.column <= column),
    );
    if (section === undefined) return null;
    const { map, index } = section;
    const found = index.find(line - 1 - section.line, section.line === line - 1 ? column - section.column : column);
    const source = found === null ? null : map.sources.at(found.source);
    if (found === null || source === null || found.line < 0 || found.column < 0) return null;
    const file = map.sourceRoot ? `${map.sourceRoot.replace(/\/$/, '')}/${source}` : source;
    const name = found.name < 0 ? null : map.names.at(found.name);
    return { map, source: found.source, file, line: found.line + 1, column: found.column, name };
  }

  #around({ map, source, line }: Place): SourcePosition['source'] {
    const text = map.contents.textAt(source);
    const own = text?.line(line, 0, LONGEST_LINE) ?? null;
    if (text === null || own === null) return null;
    const lines = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, i) => text.line(from + i, 0, LONGEST_LINE)).filter((one) => one !== null);
    return { before: lines(Math.max(1, line - AROUND), line), line: own, after: lines(line + 1, line + 1 + AROUND) };
  }

  #functionAround(line: number, column: number): string | null {
    const script = this.#script;
    const found = script?.functionAt(line, column) ?? null;
    if (script === null || found === null) return null;
    const nameAt = (place: NamePlace): string | null => this.#nameAt(place, script);
    const owner = found.owner === null ? null : nameAt(found.owner);
    if (found.constructs) return owner === null ? 'constructor' : `new ${owner}`;
    const name = found.name === null ? null : nameAt(found.name);
    return name === null || owner === null ? name : `${owner}.${name}`;
  }

  /**
   * Returns the original name from the map's names, otherwise the identifier at this position in
   * the source.
   */
  #nameAt({ offset, text }: NamePlace, script: LoadedScript): string | null {
    const { line, column } = script.positionOf(offset);
    const place = this.#place(line, column);
    if (place?.name) return place.name.slice(0, LONGEST_NAME);
    if (text !== null) return text.slice(0, LONGEST_NAME);
    const written = place?.map.contents.textAt(place.source)?.line(place.line, place.column, LONGEST_NAME);
    return NAME.exec(written ?? '')?.[0] ?? null;
  }
}

class LoadedScript {
  readonly #lines: readonly number[] | null;
  readonly #functions: ScriptFunctions | null;
  readonly bytes: number;

  constructor(bytes: Buffer) {
    // ASCII text uses one byte per character.
    const text = isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
    this.#lines = lineStarts(text);
    this.#functions = this.#lines === null ? null : functionsOf(text, spendUpTo(LIMITS.scriptMs));
    // Names are slices that keep the whole text in memory.
    this.bytes = bytes.length + 8 * (this.#lines?.length ?? 0) + (this.#functions?.bytes ?? 0);
  }

  functionAt(line: number, column: number): ScriptFunction | null {
    const start = this.#lines?.[line - 1];
    return start === undefined ? null : (this.#functions?.at(start + column) ?? null);
  }

  positionOf(offset: number): { line: number; column: number } {
    const lines = this.#lines ?? [0];
    const line = lineAt(lines, offset);
    return { line, column: offset - (lines[line - 1] ?? 0) };
  }
}

function lineStarts(text: string): number[] | null {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (starts.length === LIMITS.lines) return null;
    starts.push(at + 1);
  }
  return starts;
}

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
