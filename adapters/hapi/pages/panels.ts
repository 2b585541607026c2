/** Dashboard cards. */
import Handlebars from 'handlebars';
import type { Logger } from '../../../ports/logger.js';
import type { MountedPanel, SessionPrincipal } from '../../../ports/http/index.js';
import { getErrorText } from '../wire/failure.js';
import type { ViewRenderer } from './view-renderer.js';

export interface LoadedPanel {
  id: string;
  html: Handlebars.SafeString;
}

export class DashboardPanels {
  readonly #panels: readonly MountedPanel[];

  constructor(
    panels: readonly MountedPanel[],
    private readonly views: ViewRenderer,
    private readonly log: Logger,
    private readonly timeoutMs: number,
  ) {
    this.#panels = panels.toSorted((a, b) => a.spec.order - b.spec.order);
  }

  get plugins(): string[] {
    return this.#panels.map(({ plugin }) => plugin);
  }

  async load(
    principal: SessionPrincipal,
    project: string | null,
    context: Promise<object>,
  ): Promise<{ attention: LoadedPanel[]; trend: LoadedPanel[] }> {
    const loaded = await Promise.all(
      this.#panels.map(async (panel) => ({
        kind: panel.spec.kind,
        html: await this.#renderPanel(panel, principal, project, context),
      })),
    );
    const of = (kind: MountedPanel['spec']['kind']): LoadedPanel[] =>
      loaded.flatMap((entry, i) =>
        entry.kind === kind && entry.html !== null
          ? [{ id: this.#panels[i]!.spec.id, html: new Handlebars.SafeString(entry.html) }]
          : [],
      );
    return { attention: of('attention'), trend: of('trend') };
  }

  async #renderPanel(
    { plugin, spec, views }: MountedPanel,
    principal: SessionPrincipal,
    project: string | null,
    context: Promise<object>,
  ): Promise<string | null> {
    try {
      const view = await withTimeout(this.timeoutMs, spec.load(principal, project));
      return view === null
        ? null
        : await this.views.render(views, view.template, Object.assign({}, await context, view.context), null);
    } catch (thrown) {
      this.log.warn({ plugin, panel: spec.id, err: thrown }, `a panel failed: ${getErrorText(thrown)}`);
      return '<section class="card"><div class="card-body"><p class="text-secondary">Could not load this panel. Check the server log.</p></div></section>';
    }
  }
}

/** A later result is dropped. */
export function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
