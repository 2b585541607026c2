/** Files that fit into a head, classes that do one thing, and one meaning for each name. */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { declaredIn, type Declared } from './declared.js';
import { projectRoot, sources } from './tree.js';

/** Lines of a source file. */
const MAX_LINES = 400;
/** Services that a class is injected with, and all that it is injected with. */
const MAX_SERVICES = 8;
const MAX_INJECTED = 16;

/** The kernel binds each plugin's own settings to it. */
const PLUGIN_CONFIG_TOKEN = 'config';

const ROOT = projectRoot();

describe('architecture: sizes and names', function () {
  const texts = new Map<string, string>();
  const declared = new Map<string, Declared>();

  before(async () => {
    for (const file of await sources(ROOT)) {
      if (/^(test|scripts)\//.test(file)) continue;
      const text = await readFile(join(ROOT, file), 'utf8');
      texts.set(file, text);
      declared.set(file, declaredIn(text));
    }
    expect(texts.size).to.be.greaterThan(500);
  });

  it(`rejects a source file of more than ${MAX_LINES} lines`, () => {
    const lines = (text: string): number => text.split('\n').length - 1;
    const long = [...texts].filter(([, text]) => lines(text) > MAX_LINES);
    expect(long.map(([file, text]) => `${file}: ${lines(text)} lines`)).to.deep.equal([]);
  });

  it(`rejects a class with more than ${MAX_SERVICES} services or ${MAX_INJECTED} injected values`, () => {
    const wide = [...declared].flatMap(([file, { classes }]) =>
      classes
        .filter(({ services, injected }) => services > MAX_SERVICES || injected > MAX_INJECTED)
        .map(({ name, services, injected }) => `${file}: ${name} has ${services} services of ${injected} values`),
    );
    expect(wide).to.deep.equal([]);
  });

  it('rejects two exported types or classes with the same name', () => {
    const homes = new Map<string, string[]>();
    for (const [file, { types }] of declared)
      for (const name of types) homes.set(name, [...(homes.get(name) ?? []), file]);
    const shared = [...homes].filter(([, files]) => files.length > 1);
    expect(shared.map(([name, files]) => `${name}: ${files.join(', ')}`)).to.deep.equal([]);
  });

  it('rejects two tokens with the same name', () => {
    const homes = new Map<string, string[]>();
    for (const [file, text] of texts)
      for (const [, name = ''] of text.matchAll(/\btoken(?:<[^;]*?>)?\(\s*'([^']+)'/g))
        homes.set(name, [...(homes.get(name) ?? []), file]);
    expect(homes.size).to.be.greaterThan(200);
    const shared = [...homes].filter(([name, files]) => files.length > 1 && name !== PLUGIN_CONFIG_TOKEN);
    expect(shared.map(([name, files]) => `${name}: ${files.join(', ')}`)).to.deep.equal([]);
  });

  it('counts types, classes and services correctly', () => {
    const text = `
      export interface One {}
      export type Two = string;
      class Inner {}
      export class Three { constructor(@inject(One) a: One, @inject(DEPS.b) private readonly b: B, c: C) {} }
      export default class {}`;
    expect(declaredIn(text)).to.deep.equal({
      types: ['One', 'Two', 'Three', 'default'],
      classes: [
        { name: 'Inner', services: 0, injected: 0 },
        { name: 'Three', services: 1, injected: 2 },
        { name: 'default', services: 0, injected: 0 },
      ],
    });
  });
});
