/**
 * Views through vision: one realm per plugin, so `list` of one plugin is not `list` of another, and one Handlebars
 * environment with the partials and helpers of `web/` for all. Rejected: Handlebars' global environment, in which two
 * servers of one process (tests) would share their time zones.
 *
 * Vision finds and compiles views; the compiled ones are kept and called here. Vision would read both files from the
 * disk for every page, on a thread that compresses other pages at the same time.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Server } from '@hapi/hapi';
import Vision, { type ServerViewsConfiguration } from '@hapi/vision';
import Handlebars from 'handlebars';
import { isolated } from './direction.js';
import { showUnseen } from './unseen.js';

export interface ViewOptions {
  webDir: string;
  helpers: Readonly<Record<string, (...args: never[]) => unknown>>;
  /** Reads files again at every rendering. */
  debug: boolean;
}

type Template = ReturnType<typeof Handlebars.compile>;

/**
 * A template without the indentation of its lines, which would be sent with every row. Templates in which blanks are
 * visible keep it. Line numbers stay true.
 */
const flush = (text: string): string => (/<(?:pre|textarea)\b/.test(text) ? text : text.replaceAll(/\n[ \t]+/g, '\n'));

/**
 * A template to be compiled. The places of its parts are left out: each call of a helper would make three objects of
 * its own, and a page calls thousands. What is wrong with a view is told with its line before (judge-views.ts).
 */
function parsed(text: string): hbs.AST.Program {
  const program = Handlebars.parseWithoutProcessing(flush(text));
  withoutPlaces(program);
  return program;
}

/** A place that Handlebars writes into its code as a number. */
const NOWHERE = { start: {}, toJSON: () => 0 };

function withoutPlaces(part: object): void {
  for (const [name, value] of Object.entries(part)) {
    if (name === 'loc') Object.assign(part, { loc: NOWHERE });
    else if (typeof value === 'object' && value !== null) withoutPlaces(value as object);
  }
}

/** The partials that a plugin brings for its own views: `parts/row.hbs` is `<plugin>/row`. */
export function partsIn(folder: string, plugin: string): { name: string; file: string }[] {
  const parts = join(folder, 'parts');
  const names = existsSync(parts) ? readdirSync(parts).filter((name) => name.endsWith('.hbs')) : [];
  return names.map((name) => ({ name: `${plugin}/${basename(name, '.hbs')}`, file: join(parts, name) }));
}

export class Views {
  readonly #realms = new Map<string, Server>();
  readonly #handlebars = Handlebars.create();
  /** Compiled templates by file. */
  readonly #compiled = new Map<string, Template>();
  readonly #compiling: CompileOptions;

  private constructor(
    private readonly server: Server,
    private readonly options: ViewOptions,
  ) {
    for (const [name, helper] of Object.entries(options.helpers)) {
      this.#handlebars.registerHelper(name, helper as Handlebars.HelperDelegate);
    }
    this.#compiling = {
      // web/README.md promises: partials see only what they are given, and the inside of <pre> is not indented.
      explicitPartialContext: true,
      preventIndent: true,
      // A name that is no helper is a field: Handlebars need not look for a helper of this name at every rendering.
      knownHelpers: Object.fromEntries(Object.keys(options.helpers).map((name) => [name, true])),
      knownHelpersOnly: true,
    };
  }

  static async on(server: Server, options: ViewOptions): Promise<Views> {
    await server.register(Vision);
    const views = new Views(server, options);
    await views.add(join(options.webDir, 'views'));
    return views;
  }

  /**
   * Opens a realm for a folder of views. A second call for the same folder does nothing.
   * @param plugin whose views they are: what lies in `parts/` is the partial `<plugin>/<name>`
   */
  async add(folder: string, plugin: string | null = null): Promise<void> {
    if (this.#realms.has(folder)) return;
    const { webDir, debug } = this.options;
    this.#addParts(folder, plugin);
    const engine = Object.assign(Object.create(this.#handlebars) as typeof Handlebars, {
      compile: (text: string, options: CompileOptions & { filename: string }): Template => {
        if (debug) this.#addParts(folder, plugin);
        return this.#keep(options.filename, this.#handlebars.compile(parsed(text), options));
      },
      registerPartial: (name: string, text: string) => this.#addPartial(name, text),
    });
    await this.server.register({
      name: `views-${this.#realms.size}`,
      register: (realm) => {
        realm.views({
          engines: { hbs: { module: engine as unknown as NodeModule } },
          path: folder,
          layoutPath: join(webDir, 'layouts'),
          partialsPath: join(webDir, 'partials'),
          layout: 'app',
          isCached: !debug,
          compileOptions: this.#compiling,
        } as never);
        this.#realms.set(folder, realm);
      },
    });
  }

  #addParts(folder: string, plugin: string | null): void {
    if (plugin === null) return;
    for (const { name, file } of partsIn(folder, plugin)) this.#addPartial(name, readFileSync(file, 'utf8'));
  }

  /** It is compiled when it is first used. */
  #addPartial(name: string, text: string): void {
    this.#handlebars.registerPartial(name, this.#handlebars.compile(parsed(text), this.#compiling));
  }

  /**
   * The HTML of a view in its layout, or of the view alone where `layout` is null. @throws when the folder lacks the
   * view
   */
  async render(folder: string, template: string, context: object, layout: 'app' | 'blank' | null): Promise<string> {
    const realm = this.#realms.get(folder);
    if (!realm) throw new Error(`no views in ${folder}`);
    const html =
      this.#rendered(folder, template, context, layout) ??
      (await realm.render(template, context, { layout: layout ?? false } as ServerViewsConfiguration));
    return isolated(showUnseen(html));
  }

  /** The HTML, or null when a part is not compiled yet. */
  #rendered(folder: string, template: string, context: object, layout: string | null): string | null {
    const view = this.#compiled.get(join(folder, `${template}.hbs`));
    if (view === undefined) return null;
    if (layout === null) return view(context);
    const around = this.#compiled.get(join(this.options.webDir, 'layouts', `${layout}.hbs`));
    return around === undefined ? null : around({ ...context, content: view(context) });
  }

  #keep(file: string, template: Template): Template {
    if (!this.options.debug) this.#compiled.set(file, template);
    return template;
  }

  /** The error page of `web/views/error.hbs`. */
  error(context: object, layout: 'app' | 'blank'): Promise<string> {
    return this.render(join(this.options.webDir, 'views'), 'error', context, layout);
  }
}
