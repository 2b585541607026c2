/** Links to the failing commit; an unknown host gets no link. */
import type { Item } from '../../../ports/domain/bugs.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';

interface RepositoryPlace {
  repository: string;
  /** Null for the newest commit, or that of the tag. */
  commit: string | null;
  /** Encoded; null if unknown. */
  tag: string | null;
  /** Encoded, without a leading slash. */
  path: string;
  line: number | null;
}

interface Forge {
  /** Words in the host name: `gitlab.example.org`. */
  hosts: readonly string[];
  buildUrl(place: RepositoryPlace): string | null;
  /** Between repository page and commit hash. */
  commits: string;
}

const buildLineAnchor = (anchor: string, line: number | null): string =>
  line === null || line < 1 ? '' : `#${anchor}${line}`;

const FORGES: readonly Forge[] = [
  {
    hosts: ['github'],
    buildUrl: ({ repository, commit, tag, path, line }) =>
      `${repository}/blob/${commit ?? tag ?? 'HEAD'}/${path}${buildLineAnchor('L', line)}`,
    commits: 'commit',
  },
  {
    hosts: ['gitlab'],
    buildUrl: ({ repository, commit, tag, path, line }) =>
      `${repository}/-/blob/${commit ?? tag ?? 'HEAD'}/${path}${buildLineAnchor('L', line)}`,
    commits: '-/commit',
  },
  {
    hosts: ['gitea', 'forgejo', 'codeberg'],
    // Requires a branch name without a commit or tag.
    buildUrl: ({ repository, commit, tag, path, line }) => {
      const ref = commit === null ? tag && `tag/${tag}` : `commit/${commit}`;
      return ref === null ? null : `${repository}/src/${ref}/${path}${buildLineAnchor('L', line)}`;
    },
    commits: 'commit',
  },
  {
    hosts: ['bitbucket'],
    buildUrl: ({ repository, commit, tag, path, line }) =>
      `${repository}/src/${commit ?? tag ?? 'HEAD'}/${path}${buildLineAnchor('lines-', line)}`,
    commits: 'commits',
  },
];

const isDotted = (part: string): boolean => part === '.' || part === '..';

const COMMIT_PATTERN = /^[0-9a-f]{7,64}$/i;
const TAG_PATTERN = /^v?\d{1,9}(?:\.\d{1,9}){1,3}(?:-[0-9A-Za-z.-]{1,64})?$/;
const VERSION_PATTERN = /^\d[0-9A-Za-z.+-]{0,99}$/;
const MAX_URL_LENGTH = 2_000;

export type CodeSettings = Pick<ProjectInfo, 'path_roots' | 'tag_format'>;

type CodeLocation = Pick<Item, 'repo_url' | 'commit_sha' | 'file_path' | 'line_no'> &
  Partial<Pick<Item, 'last_build' | 'app_version'>>;

/** Returns null when repository, file or URL format is unknown. */
export function buildCodeUrl(item: CodeLocation, settings: CodeSettings = {}): string | null {
  const repository = parseRepositoryUrl(item.repo_url);
  const path = encodeRepositoryPath(toRepositoryPath(item.file_path, settings.path_roots ?? []));
  if (repository === null || path === null) return null;
  const commit = item.commit_sha !== null && COMMIT_PATTERN.test(item.commit_sha) ? item.commit_sha : null;
  const place = {
    repository: toRepositoryUrl(repository),
    commit,
    tag: findTag(item, settings),
    path,
    line: item.line_no,
  };
  const url = findForge(repository)?.buildUrl(place) ?? null;
  return url === null || url.length > MAX_URL_LENGTH ? null : url;
}

/** Maps by the project's roots. */
function toRepositoryPath(file: string | null, roots: NonNullable<CodeSettings['path_roots']>): string | null {
  if (file === null) return null;
  const path = file.replaceAll('\\', '/');
  const root = roots.find(({ from }) => isBelow(path, from.replaceAll('\\', '/')));
  if (root === undefined) return file;
  const rest = path.slice(root.from.length);
  const joint = root.to === '' || root.to.endsWith('/') || rest.startsWith('/') ? '' : '/';
  return `${root.to}${joint}${rest}`.replace(/^\/+/, '').replaceAll('//', '/');
}

const DRIVE_PATTERN = /^[a-z]:/i;
const lowerCaseDrive = (path: string): string => path.replace(DRIVE_PATTERN, (drive) => drive.toLowerCase());

const isBelow = (path: string, folder: string): boolean =>
  lowerCaseDrive(path).startsWith(lowerCaseDrive(folder)) &&
  (folder.endsWith('/') || path.charAt(folder.length) === '/');

function findTag(
  { commit_sha, last_build = null, app_version = null }: CodeLocation,
  { tag_format }: CodeSettings,
): string | null {
  if (commit_sha !== null && TAG_PATTERN.test(commit_sha)) return encodeURIComponent(commit_sha);
  const version = last_build ?? app_version;
  if (!tag_format || version === null) return null;
  const plain = version.replace(/^[^@]*@/, '').replace(/^v(?=\d)/, '');
  const parts = tag_format.replaceAll('{version}', plain).split('/');
  // A browser resolves `..` to another repository.
  return VERSION_PATTERN.test(plain) && !parts.some(isDotted) ? parts.map(encodeURIComponent).join('/') : null;
}

/** Returns null when repository or URL format is unknown. */
export function buildCommitUrl(repo: string | null, id: string): string | null {
  const repository = parseRepositoryUrl(repo);
  const forge = repository === null ? undefined : findForge(repository);
  if (repository === null || forge === undefined || !COMMIT_PATTERN.test(id)) return null;
  const url = `${toRepositoryUrl(repository)}/${forge.commits}/${id}`;
  return url.length > MAX_URL_LENGTH ? null : url;
}

function findForge({ hostname }: URL): Forge | undefined {
  const words = hostname.split(/[.-]/);
  return FORGES.find(({ hosts }) => hosts.some((host) => words.includes(host)));
}

const toRepositoryUrl = ({ origin, pathname }: URL): string =>
  `${origin}${pathname.replace(/\/+$/, '').replace(/\.git$/, '')}`;

function parseRepositoryUrl(text: string | null): URL | null {
  if (text === null || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  return url.pathname.split('/').filter(Boolean).length < 2 ? null : url;
}

/** Returns null for an absolute path. */
function encodeRepositoryPath(file: string | null): string | null {
  if (file === null) return null;
  const path = file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  const parts = path.split('/');
  if (path === '' || /^(?:\/|[a-z][a-z0-9+.-]*:|<|\()/i.test(path)) return null;
  if (parts.some((part) => part === '' || isDotted(part) || part === 'node_modules')) return null;
  return path.isWellFormed() ? parts.map(encodeURIComponent).join('/') : null;
}
