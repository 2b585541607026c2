/**
 * Renders views through vision: one realm per plugin, and one Handlebars environment with the
 * partials and helpers of `web/`. Compiled templates come from `template-cache.ts`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Server } from '@hapi/hapi';
import Vision, { type ServerViewsConfiguration } from '@hapi/vision';
import Handlebars from 'handlebars';
import { isolated } from './direction.js';
import { Templates, type CompiledTemplate } from './templates.js';
import { showUnseen } from './unseen.js';

export interface ViewOptions {
  webDir: string;
  helpers: Readonly<Record<string, (...args: never[]) => unknown>>;
  debug: boolean;
}

type Fields = Record<string, unknown>;

interface Partial {
  name: string;
  file: string;
}

function partialsIn(folder: string, prefix: string): Partial[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.hbs')) : [];
  return names.map((name) => ({ name: `${prefix}${basename(name, '.hbs')}`, file: join(folder, name) }));
}

export const partsIn = (folder: string, plugin: string): Partial[] => partialsIn(join(folder, 'parts'), `${plugin}/`);

export class Views {
  readonly #realms = new Map<string, Server>();
  readonly #templates: Templates;
  readonly #finders: (() => readonly Partial[])[] = [];
  readonly #ready = new Map<string, CompiledTemplate>();

  private constructor(
    private readonly server: Server,
    private readonly options: ViewOptions,
  ) {
    const handlebars = Handlebars.create();
    for (const [name, helper] of Object.entries(options.helpers)) {
      handlebars.registerHelper(name, helper as Handlebars.HelperDelegate);
    }
    this.#templates = new Templates(handlebars, {
      // web/README.md guarantees that partials see only what they are given, and that <pre> content
      // is not indented.
      explicitPartialContext: true,
      preventIndent: true,
      // With known helpers, Handlebars skips the helper lookup for fields.
      knownHelpers: Object.fromEntries(Object.keys(options.helpers).map((name) => [name, true])),
      knownHelpersOnly: true,
    });
  }

  static async on(server: Server, options: ViewOptions): Promise<Views> {
    await server.register(Vision);
    const views = new Views(server, options);
    views.#offer(() => partialsIn(join(options.webDir, 'partials'), ''));
    await views.add(join(options.webDir, 'views'));
    return views;
  }

  async add(folder: string, plugin: string | null = null): Promise<void> {
    if (this.#realms.has(folder)) return;
    const { webDir, debug } = this.options;
    if (plugin !== null) this.#offer(() => partsIn(folder, plugin));
    const module = {
      compile: (_text: string, { filename }: { filename: string }): CompiledTemplate => this.#templates.of(filename),
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

  #offer(find: () => readonly Partial[]): void {
    for (const { name, file } of find()) this.#templates.partial(name, file);
    this.#finders.push(find);
  }

  /**
   * Renders a view in its layout, or alone if `layout` is null.
   * @param context modified: the layout finds the view's HTML in it
   * @throws when the folder lacks the view
   */
  async render(folder: string, template: string, context: Fields, layout: 'app' | 'blank' | null): Promise<string> {
    const realm = this.#realms.get(folder);
    if (!realm) throw new Error(`no views in ${folder}`);
    const files = [join(folder, `${template}.hbs`)];
    if (layout !== null) files.push(join(this.options.webDir, 'layouts', `${layout}.hbs`));
    const html =
      this.#rendered(files, context) ??
      (await this.#renderedFirst(files, () =>
        realm.render(template, context, { layout: layout ?? false } as ServerViewsConfiguration),
      ));
    return isolated(showUnseen(html));
  }

  #rendered(files: readonly string[], context: Fields): string | null {
    const [view, around] = files.map((file) => this.#ready.get(file));
    if (view === undefined) return null;
    if (files.length === 1) return view(context);
    if (around === undefined) return null;
    context['content'] = view(context);
    return around(context);
  }

  async #renderedFirst(files: readonly string[], render: () => Promise<string>): Promise<string> {
    const { debug } = this.options;
    if (debug) this.#readAgain();
    await this.#templates.prepare(files);
    const html = await render();
    if (!debug) for (const file of files) this.#ready.set(file, this.#templates.of(file));
    return html;
  }

  #readAgain(): void {
    this.#templates.forget();
    for (const { name, file } of this.#finders.flatMap((find) => find())) this.#templates.partial(name, file);
  }

  error(context: Fields, layout: 'app' | 'blank'): Promise<string> {
    return this.render(join(this.options.webDir, 'views'), 'error', context, layout);
  }
}
