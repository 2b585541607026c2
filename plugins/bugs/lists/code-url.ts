/**
 * The address of an item's code in its repository: a page of the forge, at the commit that failed. The host name tells
 * which forge it is; an unknown host gets no link. Pure.
 */
import type { Item } from '../../../ports/domain/bugs.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';

interface Place {
  /** The repository's page, without a slash at its end. */
  repository: string;
  /** Null: the newest, or that of the tag. */
  commit: string | null;
  /** Encoded; null: not known. */
  tag: string | null;
  /** Encoded, without a slash at its beginning. */
  path: string;
  line: number | null;
}

interface Forge {
  /** Words in the host name of a forge: `gitlab.example.org`. */
  hosts: readonly string[];
  url(place: Place): string | null;
  /** What stands between the repository's page and a commit's hash. */
  commits: string;
}

const at = (anchor: string, line: number | null): string => (line === null || line < 1 ? '' : `#${anchor}${line}`);

const FORGES: readonly Forge[] = [
  {
    hosts: ['github'],
    url: ({ repository, commit, tag, path, line }) =>
      `${repository}/blob/${commit ?? tag ?? 'HEAD'}/${path}${at('L', line)}`,
    commits: 'commit',
  },
  {
    hosts: ['gitlab'],
    url: ({ repository, commit, tag, path, line }) =>
      `${repository}/-/blob/${commit ?? tag ?? 'HEAD'}/${path}${at('L', line)}`,
    commits: '-/commit',
  },
  {
    hosts: ['gitea', 'forgejo', 'codeberg'],
    // The form without a commit or a tag would need the name of a branch.
    url: ({ repository, commit, tag, path, line }) => {
      const ref = commit === null ? tag && `tag/${tag}` : `commit/${commit}`;
      return ref === null ? null : `${repository}/src/${ref}/${path}${at('L', line)}`;
    },
    commits: 'commit',
  },
  {
    hosts: ['bitbucket'],
    url: ({ repository, commit, tag, path, line }) =>
      `${repository}/src/${commit ?? tag ?? 'HEAD'}/${path}${at('lines-', line)}`,
    commits: 'commits',
  },
];

const isDotted = (part: string): boolean => part === '.' || part === '..';

const COMMIT = /^[0-9a-f]{7,64}$/i;
/** What names a version in place of a commit: `v1.4.2`. */
const TAG = /^v?\d{1,9}(?:\.\d{1,9}){1,3}(?:-[0-9A-Za-z.-]{1,64})?$/;
const VERSION = /^\d[0-9A-Za-z.+-]{0,99}$/;
/** The longest address of a page; longer ones are no paths of a repository. */
const MAX_LENGTH = 2_000;

/** What an administrator has entered about the code of a project. */
export type CodeSettings = Pick<ProjectInfo, 'path_roots' | 'tag_format'>;

type Located = Pick<Item, 'repo_url' | 'commit_sha' | 'file_path' | 'line_no'> &
  Partial<Pick<Item, 'last_build' | 'app_version'>>;

/** The address; null where the repository, the file, or the forge's form of addresses is not known. */
export function buildCodeUrl(item: Located, settings: CodeSettings = {}): string | null {
  const repository = repositoryOf(item.repo_url);
  const path = pathOf(withRoot(item.file_path, settings.path_roots ?? []));
  if (repository === null || path === null) return null;
  const commit = item.commit_sha !== null && COMMIT.test(item.commit_sha) ? item.commit_sha : null;
  const place = { repository: pageOf(repository), commit, tag: tagOf(item, settings), path, line: item.line_no };
  const url = forgeOf(repository)?.url(place) ?? null;
  return url === null || url.length > MAX_LENGTH ? null : url;
}

/** The path in the repository of a file on a machine, where a root of the project begins it. */
function withRoot(file: string | null, roots: NonNullable<CodeSettings['path_roots']>): string | null {
  if (file === null) return null;
  const path = file.replaceAll('\\', '/');
  const root = roots.find(({ from }) => isBelow(path, from.replaceAll('\\', '/')));
  if (root === undefined) return file;
  const rest = path.slice(root.from.length);
  const joint = root.to === '' || root.to.endsWith('/') || rest.startsWith('/') ? '' : '/';
  return `${root.to}${joint}${rest}`.replace(/^\/+/, '').replaceAll('//', '/');
}

const DRIVE = /^[a-z]:/i;
/** Windows ignores the case of drive letters. */
const lowerDrive = (path: string): string => path.replace(DRIVE, (drive) => drive.toLowerCase());

const isBelow = (path: string, folder: string): boolean =>
  lowerDrive(path).startsWith(lowerDrive(folder)) && (folder.endsWith('/') || path.charAt(folder.length) === '/');

/** The tag, where the item names one in place of a commit, or its version has one. */
function tagOf(
  { commit_sha, last_build = null, app_version = null }: Located,
  { tag_format }: CodeSettings,
): string | null {
  if (commit_sha !== null && TAG.test(commit_sha)) return encodeURIComponent(commit_sha);
  const version = last_build ?? app_version;
  if (!tag_format || version === null) return null;
  const plain = version.replace(/^[^@]*@/, '').replace(/^v(?=\d)/, '');
  const parts = tag_format.replaceAll('{version}', plain).split('/');
  // A browser resolves `..`, which would lead to another repository.
  return VERSION.test(plain) && !parts.some(isDotted) ? parts.map(encodeURIComponent).join('/') : null;
}

/** The address of a commit; null where the repository or the forge's form of addresses is not known. */
export function buildCommitUrl(repo: string | null, id: string): string | null {
  const repository = repositoryOf(repo);
  const forge = repository === null ? undefined : forgeOf(repository);
  if (repository === null || forge === undefined || !COMMIT.test(id)) return null;
  const url = `${pageOf(repository)}/${forge.commits}/${id}`;
  return url.length > MAX_LENGTH ? null : url;
}

function forgeOf({ hostname }: URL): Forge | undefined {
  const words = hostname.split(/[.-]/);
  return FORGES.find(({ hosts }) => hosts.some((host) => words.includes(host)));
}

const pageOf = ({ origin, pathname }: URL): string => `${origin}${pathname.replace(/\/+$/, '').replace(/\.git$/, '')}`;

function repositoryOf(text: string | null): URL | null {
  if (text === null || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  // The path names at least owner and repository.
  return url.pathname.split('/').filter(Boolean).length < 2 ? null : url;
}

/** A path within the repository, encoded. Null for an absolute path: it is a place on a machine. */
function pathOf(file: string | null): string | null {
  if (file === null) return null;
  const path = file.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');
  const parts = path.split('/');
  if (path === '' || /^(?:\/|[a-z][a-z0-9+.-]*:|<|\()/i.test(path)) return null;
  if (parts.some((part) => part === '' || isDotted(part) || part === 'node_modules')) return null;
  return path.isWellFormed() ? parts.map(encodeURIComponent).join('/') : null;
}
