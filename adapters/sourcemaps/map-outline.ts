/**
 * Locates the parts of a source map in its bytes and decodes them on demand, so that a map needs
 * little more memory than its own size.
 */
import { SourceMapRejected } from '../../ports/source-map-reader.js';
import { JsonScanner, type TextRange } from './json-scanner.js';
import { UPLOAD_LIMITS } from './limits.js';
import { SourceText } from './source-text.js';

const BACKSLASH = 0x5c;

/** Offsets of the elements of a string list; grows without copying every element. */
class TextList {
  #offsets = new Uint32Array(16);
  length = 0;

  constructor(private readonly scanner: JsonScanner) {}

  /** @throws MapRefused */
  read(most: number, what: string): this {
    const { scanner } = this;
    if (!scanner.isList()) {
      scanner.skip();
      return this;
    }
    scanner.readList(() => {
      if (this.length === most) throw new SourceMapRejected(`has more than ${most} ${what}`);
      if (scanner.isObject() || scanner.isList()) throw new SourceMapRejected(`has ${what} that are not strings`);
      if (this.length === this.#offsets.length) {
        const more = new Uint32Array(this.length * 2);
        more.set(this.#offsets);
        this.#offsets = more;
      }
      // 0 marks a missing element, because no string starts there.
      this.#offsets[this.length++] = scanner.isText() ? scanner.skipText().start : (scanner.skip(), 0);
    });
    return this;
  }

  getName(index: number): string | null {
    const found = this.#find(index);
    return found === null || found.end - found.start > UPLOAD_LIMITS.name ? null : this.scanner.decode(found);
  }

  getText(index: number): SourceText | null {
    const found = this.#find(index);
    return found === null ? null : new SourceText(this.scanner.bytes, found);
  }

  #find(index: number): TextRange | null {
    const start = index < this.length ? this.#offsets[index] : 0;
    if (!start) return null;
    const reader = new JsonScanner(this.scanner.bytes, { values: 1, depth: 1 });
    reader.at = start;
    return reader.skipText();
  }

  get bytes(): number {
    return this.#offsets.byteLength;
  }
}

export interface PlainMap {
  mappings: Buffer;
  sourceRoot: string | null;
  sources: TextList;
  contents: TextList;
  names: TextList;
}

export interface MapSection {
  line: number;
  column: number;
  map: PlainMap;
}

/**
 * A plain map has one section.
 * @throws MapRefused
 */
export function parseMapOutline(bytes: Buffer): MapSection[] {
  const scanner = new JsonScanner(bytes, { values: UPLOAD_LIMITS.values, depth: UPLOAD_LIMITS.depth });
  if (!scanner.isObject() && !scanner.isList()) throw new SourceMapRejected('is not valid JSON');
  const sections = scanner.isObject() ? readMap(scanner, true) : [];
  if (sections.length === 0) throw new SourceMapRejected('is not a source map');
  return sections.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function readMap(scanner: JsonScanner, mayHaveSections: boolean): MapSection[] {
  const map: PlainMap = {
    mappings: Buffer.alloc(0),
    sourceRoot: null,
    sources: new TextList(scanner),
    contents: new TextList(scanner),
    names: new TextList(scanner),
  };
  let sections: MapSection[] | null = null;
  let isMap = false;
  scanner.readObject((key) => {
    if (key === 'mappings' && scanner.isText()) {
      map.mappings = readMappings(scanner);
      isMap = true;
    } else if (key === 'sourceRoot' && scanner.isText()) map.sourceRoot = scanner.readShortText();
    else if (key === 'sources') map.sources = new TextList(scanner).read(UPLOAD_LIMITS.sources, 'sources');
    else if (key === 'sourcesContent') map.contents = new TextList(scanner).read(UPLOAD_LIMITS.sources, 'sources');
    else if (key === 'names') map.names = new TextList(scanner).read(UPLOAD_LIMITS.names, 'names');
    else if (key === 'sections' && scanner.isList()) {
      if (!mayHaveSections) throw new SourceMapRejected('has sections within sections');
      sections = readSections(scanner);
    } else scanner.skip();
  });
  return sections ?? (isMap ? [{ line: 0, column: 0, map }] : []);
}

function readMappings(scanner: JsonScanner): Buffer {
  const { start, end } = scanner.skipText();
  const text = scanner.bytes.subarray(start + 1, end - 1);
  // Some writers escape the slash, which is a base64 digit here.
  let length = text.indexOf(BACKSLASH);
  if (length < 0) return text;
  for (let at = length; at < text.length; at++) {
    const byte = text[at] ?? 0;
    if (byte !== BACKSLASH) text[length++] = byte;
  }
  return text.subarray(0, length);
}

function readSections(scanner: JsonScanner): MapSection[] {
  const sections: MapSection[] = [];
  scanner.readList(() => {
    let offset = { line: 0, column: 0 };
    let inner: MapSection[] = [];
    if (!scanner.isObject()) return scanner.skip();
    scanner.readObject((key) => {
      if (key === 'offset' && scanner.isObject()) offset = readOffset(scanner);
      else if (key === 'map' && scanner.isObject()) inner = readMap(scanner, false);
      else scanner.skip();
    });
    if (sections.length === UPLOAD_LIMITS.sections)
      throw new SourceMapRejected(`has more than ${UPLOAD_LIMITS.sections} sections`);
    for (const { map } of inner) sections.push({ ...offset, map });
  });
  return sections;
}

function readOffset(scanner: JsonScanner): { line: number; column: number } {
  const offset = { line: 0, column: 0 };
  scanner.readObject((key) => {
    if (key === 'line' || key === 'column') offset[key] = scanner.readNumber() ?? 0;
    else scanner.skip();
  });
  return offset;
}
