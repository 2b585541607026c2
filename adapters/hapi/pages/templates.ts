/**
 * Compiled templates by file. The first page of a kind needs ten of them and more, 30 ms of work: what it needs is
 * compiled before, and whatever else waits has its turn after each part.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import type Handlebars from 'handlebars';

export type CompiledTemplate = Handlebars.TemplateDelegate;

/**
 * A template without the indentation of its lines, which would be sent with every row. Templates in which blanks are
 * visible keep it. Line numbers stay true.
 */
const flush = (text: string): string => (/<(?:pre|textarea)\b/.test(text) ? text : text.replaceAll(/\n[ \t]+/g, '\n'));

/** A place that Handlebars writes into its code as a number. */
const NOWHERE = { start: {}, toJSON: () => 0 };

/** A part of a parsed template. */
interface Part {
  type?: string;
  name?: { original?: unknown };
}

/**
 * Leaves out the places of all parts: each call of a helper would make three objects of its own, and a page calls
 * thousands. What is wrong with a view is told with its line before (judge-views.ts).
 * @param named gets the names of partials
 */
function prepared(part: Part, named: Set<string>): void {
  if (part.type?.startsWith('Partial') === true && typeof part.name?.original === 'string')
    named.add(part.name.original);
  for (const [name, value] of Object.entries(part)) {
    if (name === 'loc') Object.assign(part, { loc: NOWHERE });
    else if (typeof value === 'object' && value !== null) prepared(value as Part, named);
  }
}

export class Templates {
  readonly #files = new Map<string, CompiledTemplate>();
  /** Files of partials by name. */
  readonly #partials = new Map<string, string>();
  /** Names of the partials of a file. */
  readonly #named = new Map<string, ReadonlySet<string>>();

  constructor(
    private readonly handlebars: typeof Handlebars,
    private readonly options: CompileOptions,
  ) {}

  /** A partial, compiled when it is first used. */
  partial(name: string, file: string): void {
    this.#partials.set(name, file);
    this.handlebars.registerPartial(name, (context: unknown, options) => this.of(file)(context, options));
  }

  /** The template of a file; compiled now when it is not yet. @throws when the file is no template */
  of(file: string): CompiledTemplate {
    return this.#files.get(file) ?? this.#compiled(file, this.#parsed(file, readFileSync(file, 'utf8')));
  }

  /** Compiles the files and every partial that they name, and those of these. */
  async prepare(files: readonly string[]): Promise<void> {
    const all = new Set(files);
    // A set goes on with what is added meanwhile.
    for (const file of all) {
      if (!this.#files.has(file)) {
        const parsed = this.#parsed(file, await readFile(file, 'utf8'));
        await turn();
        this.#compiled(file, parsed);
        await turn();
      }
      for (const name of this.#named.get(file) ?? []) {
        const partial = this.#partials.get(name);
        if (partial !== undefined) all.add(partial);
      }
    }
  }

  /** Files are read again. */
  forget(): void {
    this.#files.clear();
  }

  #parsed(file: string, text: string): hbs.AST.Program {
    const program = this.handlebars.parseWithoutProcessing(flush(text));
    const named = new Set<string>();
    prepared(program, named);
    this.#named.set(file, named);
    return program;
  }

  #compiled(file: string, program: hbs.AST.Program): CompiledTemplate {
    const code = this.handlebars.precompile(program, this.options) as string;
    const template = this.handlebars.template(
      runInThisContext(`(${code})`, { filename: file }) as TemplateSpecification,
    );
    this.#files.set(file, template);
    return template;
  }
}
