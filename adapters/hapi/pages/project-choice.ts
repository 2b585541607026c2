/**
 * The project filter in the navigation bar (contract 80), stored in a cookie and applied to every
 * page that supports it.
 */
import {
  Redirect,
  type ChoosableProject,
  type MountedPage,
  type PageSpec,
  type ProjectChoices,
} from '../../../ports/http/index.js';

const PROJECT_COOKIE = 'svc_project';
const YEAR_SECONDS = 31_536_000;
const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MAX_MENU_PROJECTS = 20;

type Cookies = Readonly<Record<string, string>>;

export async function findChosenProject(
  projects: ProjectChoices | null,
  cookies: Cookies,
): Promise<ChoosableProject | null> {
  const slug = cookies[PROJECT_COOKIE];
  return projects === null || slug === undefined || !SLUG_PATTERN.test(slug) ? null : projects.find(slug);
}

/** `''` in the URL means none. */
export async function applyChosenProject(
  projects: ProjectChoices | null,
  { session, cookies }: { session: unknown; cookies: Cookies },
  { projectQuery }: Pick<PageSpec, 'projectQuery'>,
  call: { query: Record<string, unknown>; chosenProject: string | undefined },
): Promise<Record<string, unknown>> {
  if (projectQuery === undefined || session === null) return call.query;
  const named = [call.query[projectQuery]].flat().some((value) => value !== undefined && value !== '');
  const chosen = named ? null : await findChosenProject(projects, cookies);
  if (chosen === null) return call.query;
  call.chosenProject = chosen.slug;
  return { ...call.query, [projectQuery]: chosen.slug };
}

export async function buildProjectBar(
  projects: ProjectChoices | null,
  chosen: ChoosableProject | null,
): Promise<object | null> {
  if (projects === null) return null;
  const { items, more } = await projects.listFirst(MAX_MENU_PROJECTS);
  return chosen === null && items.length < 2 ? null : { chosen, items, more };
}

export const createProjectChoicePage = (projects: ProjectChoices): MountedPage => ({
  plugin: 'hapi',
  views: '',
  ready: () => true,
  spec: {
    method: 'POST',
    path: '/project-choice',
    title: 'Project',
    access: { session: 'member' },
    handle: async ({ body }) => {
      const { project, back } = body as Record<string, unknown>;
      const to = typeof back === 'string' && /^\/(?![/\\])/.test(back) ? back : '/';
      const known = typeof project === 'string' && SLUG_PATTERN.test(project) ? await projects.find(project) : null;
      return new Redirect(to).cookie({
        name: PROJECT_COOKIE,
        value: known?.slug ?? null,
        ...(known && { maxAgeSeconds: YEAR_SECONDS }),
      });
    },
  },
});
