/** Cache of compiled templates, filled in advance, yielding to other work after each. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { setImmediate as turn } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import type Handlebars from 'handlebars';

/** One file takes less memory than the default build of 45 files, which holds its source maps. */
export const handlebars = createRequire(import.meta.url)('handlebars/dist/handlebars.min.js') as typeof Handlebars;

export type CompiledTemplate = Handlebars.TemplateDelegate;

/** Removes indentation, which would be sent with every row, unless whitespace is visible. */
const stripIndentation = (text: string): string =>
  /<(?:pre|textarea)\b/.test(text) ? text : text.replaceAll(/\n[ \t]+/g, '\n');

/** Handlebars writes it into its code as a number. */
const EMPTY_LOCATION = { start: {}, toJSON: () => 0 };

interface TemplateNode {
  type?: string;
  name?: { original?: unknown };
}

/** Removes source locations, because Handlebars would create three objects for each helper call. */
function stripLocations(part: TemplateNode, named: Set<string>): void {
  if (part.type?.startsWith('Partial') === true && typeof part.name?.original === 'string')
    named.add(part.name.original);
  for (const [name, value] of Object.entries(part)) {
    if (name === 'loc') Object.assign(part, { loc: EMPTY_LOCATION });
    else if (typeof value === 'object' && value !== null) stripLocations(value as TemplateNode, named);
  }
}

export class TemplateCache {
  readonly #files = new Map<string, CompiledTemplate>();
  readonly #partials = new Map<string, string>();
  readonly #named = new Map<string, ReadonlySet<string>>();

  constructor(
    private readonly handlebars: typeof Handlebars,
    private readonly options: CompileOptions,
  ) {}

  registerPartial(name: string, file: string): void {
    this.#partials.set(name, file);
    this.handlebars.registerPartial(name, (context: unknown, options) => this.getTemplate(file)(context, options));
  }

  /** @throws for an invalid template */
  getTemplate(file: string): CompiledTemplate {
    return this.#files.get(file) ?? this.#compile(file, this.#parse(file, readFileSync(file, 'utf8')));
  }

  async precompile(files: readonly string[]): Promise<void> {
    const all = new Set(files);
    for (const file of all) {
      if (!this.#files.has(file)) {
        const parsed = this.#parse(file, await readFile(file, 'utf8'));
        await turn();
        this.#compile(file, parsed);
        await turn();
      }
      for (const name of this.#named.get(file) ?? []) {
        const partial = this.#partials.get(name);
        if (partial !== undefined) all.add(partial);
      }
    }
  }

  clear(): void {
    this.#files.clear();
  }

  #parse(file: string, text: string): hbs.AST.Program {
    const program = this.handlebars.parseWithoutProcessing(stripIndentation(text));
    const named = new Set<string>();
    stripLocations(program, named);
    this.#named.set(file, named);
    return program;
  }

  #compile(file: string, program: hbs.AST.Program): CompiledTemplate {
    const code = this.handlebars.precompile(program, this.options) as string;
    const template = this.handlebars.template(
      runInThisContext(`(${code})`, { filename: file }) as TemplateSpecification,
    );
    this.#files.set(file, template);
    return template;
  }
}
