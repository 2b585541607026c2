/**
 * Views through vision: one realm per plugin, so that `list` in one plugin is not `list` in another, and one Handlebars
 * environment with the partials and helpers of `web/` for all. Handlebars' global environment was rejected: two servers
 * in one process (tests) would share their time zones.
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

export class Views {
  readonly #realms = new Map<string, Server>();
  readonly #handlebars = Handlebars.create();

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
    const { webDir, debug } = this.options;
    await this.server.register({
      name: `views-${this.#realms.size}`,
      register: (realm) => {
        realm.views({
          engines: { hbs: { module: this.#handlebars as unknown as NodeModule } },
          path: folder,
          layoutPath: join(webDir, 'layouts'),
          partialsPath: join(webDir, 'partials'),
          layout: 'app',
          isCached: !debug,
          // What web/README.md asks for: partials see what they are given, and do not indent the inside of <pre>.
          compileOptions: { explicitPartialContext: true, preventIndent: true },
        } as never);
        this.#realms.set(folder, realm);
      },
    });
  }

  /** HTML of a view in its layout; `layout` null: the view alone. @throws when the folder has no such view */
  async render(folder: string, template: string, context: object, layout: 'app' | 'blank' | null): Promise<string> {
    const realm = this.#realms.get(folder);
    if (!realm) throw new Error(`no views in ${folder}`);
    return showUnseen(await realm.render(template, context, { layout: layout ?? false } as ServerViewsConfiguration));
  }

  /** The error page of `web/views/error.hbs`. */
  error(context: object, layout: 'app' | 'blank'): Promise<string> {
    return this.render(join(this.options.webDir, 'views'), 'error', context, layout);
  }
}
