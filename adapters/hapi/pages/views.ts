/**
 * Views through vision: one realm per plugin, so that `list` in one plugin is not `list` in another, and one Handlebars
 * environment with the partials and helpers of `web/` for all. Handlebars' global environment was rejected: two servers
 * in one process (tests) would share their time zones.
 *
 * Vision finds and compiles; what it has compiled is kept here and called as it is. Vision would ask the disk for both
 * files at every page, which a thread of libuv does behind those that compress other pages.
 */
import { join } from 'node:path';
import type { Server } from '@hapi/hapi';
import Vision, { type ServerViewsConfiguration } from '@hapi/vision';
import Handlebars from 'handlebars';
import { showUnseen } from './unseen.js';

export interface ViewOptions {
  webDir: string;
  helpers: Readonly<Record<string, (...args: never[]) => unknown>>;
  /** Read files again at every rendering. */
  debug: boolean;
}

type Template = ReturnType<typeof Handlebars.compile>;

/**
 * A template whose lines begin at the margin, for its indentation would be sent with every row. Not where it would be
 * seen. Numbers of lines stay true.
 */
const flush = (text: string): string => (/<(?:pre|textarea)\b/.test(text) ? text : text.replaceAll(/\n[ \t]+/g, '\n'));

export class Views {
  readonly #realms = new Map<string, Server>();
  readonly #handlebars = Handlebars.create();
  /** By file. */
  readonly #compiled = new Map<string, Template>();

  private constructor(
    private readonly server: Server,
    private readonly options: ViewOptions,
  ) {
    for (const [name, helper] of Object.entries(options.helpers)) {
      this.#handlebars.registerHelper(name, helper as Handlebars.HelperDelegate);
    }
  }

  static async on(server: Server, options: ViewOptions): Promise<Views> {
    await server.register(Vision);
    const views = new Views(server, options);
    await views.add(join(options.webDir, 'views'));
    return views;
  }

  /** Opens a realm for a folder of views; again for the same folder is nothing. */
  async add(folder: string): Promise<void> {
    if (this.#realms.has(folder)) return;
    const { webDir, debug, helpers } = this.options;
    const engine = Object.assign(Object.create(this.#handlebars) as typeof Handlebars, {
      compile: (text: string, options: CompileOptions & { filename: string }): Template =>
        this.#keep(options.filename, this.#handlebars.compile(flush(text), options)),
      registerPartial: (name: string, text: string) => this.#handlebars.registerPartial(name, flush(text)),
    });
    // What is no helper is a field, without a look for a helper of its name each time.
    const knownHelpers = Object.fromEntries(Object.keys(helpers).map((name) => [name, true]));
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
          // What web/README.md asks for: partials see what they are given, and do not indent the inside of <pre>.
          compileOptions: { explicitPartialContext: true, preventIndent: true, knownHelpers, knownHelpersOnly: true },
        } as never);
        this.#realms.set(folder, realm);
      },
    });
  }

  /** HTML of a view in its layout; `layout` null: the view alone. @throws when the folder has no such view */
  async render(folder: string, template: string, context: object, layout: 'app' | 'blank' | null): Promise<string> {
    const realm = this.#realms.get(folder);
    if (!realm) throw new Error(`no views in ${folder}`);
    const html =
      this.#rendered(folder, template, context, layout) ??
      (await realm.render(template, context, { layout: layout ?? false } as ServerViewsConfiguration));
    return showUnseen(html);
  }

  /** Null when a part is not compiled yet. */
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
