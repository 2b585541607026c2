import type { HttpServer } from '../ports/http-server.js';
import { findSourceFaults } from './loading/source-faults.js';
import type { PluginRun } from './plugin-run.js';
import type { RunningPlugins } from './running-plugins.js';

export function findViewFaults(plugins: RunningPlugins, http: HttpServer): { run: PluginRun; faults: string[] }[] {
  const checkedRuns = plugins.runs.filter(({ state, registered }) => state !== 'failed' && !registered.tested);
  if (checkedRuns.length === 0) return [];
  const parts = { pages: plugins.listPages(), panels: plugins.listPanels() };
  const ofViews = http.findFaults(parts, new Set(checkedRuns.map(({ id }) => id)));
  return checkedRuns.map((run) => {
    const { module, views } = run.registered;
    const jobs = (run.parts.jobs ?? []).map(({ name }) => name.slice(run.id.length + 1));
    const ofSources = module === null ? [] : findSourceFaults(module, views, run.id, jobs);
    const own = ofViews.filter(({ plugin }) => plugin === run.id).map(({ fault }) => fault);
    return { run, faults: [...ofSources, ...own] };
  });
}
