/**
 * The repositories that administrators have entered for projects, for lists: an item that names none is answered with
 * that of its project (contract 20, untrusted text). Of the projects that a query names they are those of now; of all
 * of them they are two seconds old at most.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { SharedReading } from '../../../lib/shared-reading.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ProjectRepositories } from '../item/row.js';

const MAX_AGE_MS = 2_000;
/** Projects that are asked for one by one. */
const FEW = 20;
/** Every row is made with all of them at hand; where there are more, with those of its page. */
const MOST = 500;

@injectable()
export class Repositories {
  readonly #all: SharedReading<ProjectRepositories | null>;

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'projects' | 'clock'>) {
    this.#all = new SharedReading(async () => addressesOf(await deps.projects.list()), {
      maxAgeMs: MAX_AGE_MS,
      monotonic: () => deps.clock.monotonic(),
    });
  }

  /**
   * Null: none of them has one.
   * @param projects of the query; undefined: all
   * @param onPage asks for the projects of the page's items, at most 200
   */
  async of(
    projects: readonly string[] | undefined,
    onPage: () => Promise<readonly string[]>,
  ): Promise<ProjectRepositories | null> {
    if (projects === undefined || projects.length === 0 || projects.length > FEW) {
      const all = await this.#all.take();
      return all === null || Object.keys(all).length <= MOST ? all : among(all, await onPage());
    }
    const found = await Promise.all([...new Set(projects)].map((slug) => this.deps.projects.get(slug)));
    return addressesOf(found.filter((project) => project !== null));
  }
}

function addressesOf(projects: readonly { slug: string; repo_url: string | null }[]): ProjectRepositories | null {
  const found = projects.flatMap(({ slug, repo_url }) => (repo_url ? [[slug, repo_url] as const] : []));
  return found.length === 0 ? null : Object.fromEntries(found);
}

function among(all: ProjectRepositories, slugs: readonly string[]): ProjectRepositories | null {
  return addressesOf(slugs.map((slug) => ({ slug, repo_url: all[slug] ?? null })));
}
