/**
 * The address of an item's code in its repository: a page of the forge, at the commit that failed. The host name tells
 * which forge it is; an unknown host gets no link. Pure.
 */
import type { Item } from '../../../ports/domain/bugs.js';

interface Place {
  /** The repository's page, without a slash at its end. */
  repository: string;
  /** Null: the newest. */
  commit: string | null;
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
    url: ({ repository, commit, path, line }) => `${repository}/blob/${commit ?? 'HEAD'}/${path}${at('L', line)}`,
    commits: 'commit',
  },
  {
    hosts: ['gitlab'],
    url: ({ repository, commit, path, line }) => `${repository}/-/blob/${commit ?? 'HEAD'}/${path}${at('L', line)}`,
    commits: '-/commit',
  },
  {
    hosts: ['gitea', 'forgejo', 'codeberg'],
    // The form without a commit would need the name of a branch.
    url: ({ repository, commit, path, line }) =>
      commit === null ? null : `${repository}/src/commit/${commit}/${path}${at('L', line)}`,
    commits: 'commit',
  },
  {
    hosts: ['bitbucket'],
    url: ({ repository, commit, path, line }) => `${repository}/src/${commit ?? 'HEAD'}/${path}${at('lines-', line)}`,
    commits: 'commits',
  },
];

const COMMIT = /^[0-9a-f]{7,64}$/i;
/** The longest address of a page; longer ones are no paths of a repository. */
const LONGEST = 2_000;

/** The address; null where the repository, the file, or the forge's form of addresses is not known. */
export function codeUrl(item: Pick<Item, 'repo_url' | 'commit_sha' | 'file_path' | 'line_no'>): string | null {
  const repository = repositoryOf(item.repo_url);
  const path = pathOf(item.file_path);
  if (repository === null || path === null) return null;
  const commit = item.commit_sha !== null && COMMIT.test(item.commit_sha) ? item.commit_sha : null;
  const url = forgeOf(repository)?.url({ repository: pageOf(repository), commit, path, line: item.line_no }) ?? null;
  return url === null || url.length > LONGEST ? null : url;
}

/** The address of a commit; null where the repository or the forge's form of addresses is not known. */
export function commitUrl(repo: string | null, id: string): string | null {
  const repository = repositoryOf(repo);
  const forge = repository === null ? undefined : forgeOf(repository);
  if (repository === null || forge === undefined || !COMMIT.test(id)) return null;
  const url = `${pageOf(repository)}/${forge.commits}/${id}`;
  return url.length > LONGEST ? null : url;
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
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part === 'node_modules')) return null;
  return path.isWellFormed() ? parts.map(encodeURIComponent).join('/') : null;
}
