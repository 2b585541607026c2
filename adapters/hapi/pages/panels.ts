/** Dashboard cards. */
import type Handlebars from 'handlebars';
import { handlebars } from './template-cache.js';
import type { Logger } from '../../../ports/logger.js';
import type { MountedPanel, PanelKind, SessionPrincipal } from '../../../ports/http/index.js';
import { getErrorText } from '../wire/failure.js';
import type { ViewRenderer } from './view-renderer.js';

const FAILED_PANEL =
  '<section class="card"><div class="card-body"><p class="text-secondary">Could not load this panel. Check the server log.</p></div></section>';

export interface LoadedPanel {
  id: string;
  html: Handlebars.SafeString;
}

/** By kind, and how many things need attention. */
export type LoadedPanels = Record<PanelKind, LoadedPanel[]> & { needed: number };

interface RenderedPanel {
  html: string;
  count: number;
}

const toKind = (kind: MountedPanel['spec']['kind']): PanelKind => (kind === 'trend' ? 'side' : kind);

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

  async load(principal: SessionPrincipal, project: string | null, context: Promise<object>): Promise<LoadedPanels> {
    const rendered = await Promise.all(
      this.#panels.map((panel) => this.#renderPanel(panel, principal, project, context)),
    );
    const loaded: LoadedPanels = { state: [], stat: [], chart: [], attention: [], side: [], needed: 0 };
    for (const [i, { spec }] of this.#panels.entries()) {
      const panel = rendered[i] ?? null;
      if (panel === null) continue;
      const kind = toKind(spec.kind);
      loaded[kind].push({ id: spec.id, html: new handlebars.SafeString(panel.html) });
      if (kind === 'attention') loaded.needed += panel.count;
    }
    return loaded;
  }

  async #renderPanel(
    { plugin, spec, views }: MountedPanel,
    principal: SessionPrincipal,
    project: string | null,
    context: Promise<object>,
  ): Promise<RenderedPanel | null> {
    try {
      const view = await withTimeout(this.timeoutMs, spec.load(principal, project));
      if (view === null) return null;
      const { count } = view.context as { count?: unknown };
      const html = await this.views.render(views, view.template, Object.assign({}, await context, view.context), null);
      return { html, count: typeof count === 'number' ? count : 1 };
    } catch (thrown) {
      this.log.warn({ plugin, panel: spec.id, err: thrown }, `a panel failed: ${getErrorText(thrown)}`);
      return { html: FAILED_PANEL, count: 0 };
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
