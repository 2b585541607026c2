/**
 * Renders views through vision: one realm per plugin, and one Handlebars environment with the
 * partials and helpers of `web/`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Server } from '@hapi/hapi';
import Vision, { type ServerViewsConfiguration } from '@hapi/vision';
import type Handlebars from 'handlebars';
import { isolateRtlText } from './rtl-isolation.js';
import { handlebars, TemplateCache, type CompiledTemplate } from './template-cache.js';
import { revealInvisibleCharacters } from './invisible-characters.js';

export interface ViewOptions {
  webDir: string;
  helpers: Readonly<Record<string, (...args: never[]) => unknown>>;
  debug: boolean;
}

type ViewFields = Record<string, unknown>;

interface PartialFile {
  name: string;
  file: string;
}

function listPartials(folder: string, prefix: string): PartialFile[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.hbs')) : [];
  return names.map((name) => ({ name: `${prefix}${basename(name, '.hbs')}`, file: join(folder, name) }));
}

export const listPluginPartials = (folder: string, plugin: string): PartialFile[] =>
  listPartials(join(folder, 'parts'), `${plugin}/`);

export class ViewRenderer {
  readonly #realms = new Map<string, Server>();
  readonly #templates: TemplateCache;
  readonly #finders: (() => readonly PartialFile[])[] = [];
  readonly #ready = new Map<string, CompiledTemplate>();

  private constructor(
    private readonly server: Server,
    private readonly options: ViewOptions,
  ) {
    const engine = handlebars.create();
    for (const [name, helper] of Object.entries(options.helpers)) {
      engine.registerHelper(name, helper as Handlebars.HelperDelegate);
    }
    this.#templates = new TemplateCache(engine, {
      // web/README.md guarantees that partials see only what they are given, and that <pre> content
      // is not indented.
      explicitPartialContext: true,
      preventIndent: true,
      // Handlebars then skips the helper lookup for fields.
      knownHelpers: Object.fromEntries(Object.keys(options.helpers).map((name) => [name, true])),
      knownHelpersOnly: true,
    });
  }

  static async create(server: Server, options: ViewOptions): Promise<ViewRenderer> {
    await server.register(Vision);
    const views = new ViewRenderer(server, options);
    views.#registerPartials(() => listPartials(join(options.webDir, 'partials'), ''));
    await views.addFolder(join(options.webDir, 'views'));
    return views;
  }

  async addFolder(folder: string, plugin: string | null = null): Promise<void> {
    if (this.#realms.has(folder)) return;
    const { webDir, debug } = this.options;
    if (plugin !== null) this.#registerPartials(() => listPluginPartials(folder, plugin));
    const module = {
      compile: (_text: string, { filename }: { filename: string }): CompiledTemplate =>
        this.#templates.getTemplate(filename),
    };
    await this.server.register({
      name: `views-${this.#realms.size}`,
      register: (realm) => {
        realm.views({
          engines: { hbs: { module: module as unknown as NodeModule } },
          path: folder,
          layoutPath: join(webDir, 'layouts'),
          layout: 'app',
          isCached: !debug,
        } as never);
        this.#realms.set(folder, realm);
      },
    });
  }

  #registerPartials(find: () => readonly PartialFile[]): void {
    for (const { name, file } of find()) this.#templates.registerPartial(name, file);
    this.#finders.push(find);
  }

  /**
   * @param context modified: the layout finds the view's HTML in it
   * @throws when the folder lacks the view
   */
  async render(folder: string, template: string, context: ViewFields, layout: 'app' | 'blank' | null): Promise<string> {
    const realm = this.#realms.get(folder);
    if (!realm) throw new Error(`${folder} contains no views`);
    const files = [join(folder, `${template}.hbs`)];
    if (layout !== null) files.push(join(this.options.webDir, 'layouts', `${layout}.hbs`));
    const html =
      this.#renderCompiled(files, context) ??
      (await this.#renderAfterCompiling(files, () =>
        realm.render(template, context, { layout: layout ?? false } as ServerViewsConfiguration),
      ));
    return isolateRtlText(revealInvisibleCharacters(html));
  }

  #renderCompiled(files: readonly string[], context: ViewFields): string | null {
    const [view, around] = files.map((file) => this.#ready.get(file));
    if (view === undefined) return null;
    if (files.length === 1) return view(context);
    if (around === undefined) return null;
    context['content'] = view(context);
    return around(context);
  }

  async #renderAfterCompiling(files: readonly string[], render: () => Promise<string>): Promise<string> {
    const { debug } = this.options;
    if (debug) this.#reload();
    await this.#templates.precompile(files);
    const html = await render();
    if (!debug) for (const file of files) this.#ready.set(file, this.#templates.getTemplate(file));
    return html;
  }

  #reload(): void {
    this.#templates.clear();
    for (const { name, file } of this.#finders.flatMap((find) => find())) this.#templates.registerPartial(name, file);
  }

  renderError(context: ViewFields, layout: 'app' | 'blank'): Promise<string> {
    return this.render(join(this.options.webDir, 'views'), 'error', context, layout);
  }
}
