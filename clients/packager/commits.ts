/**
 * Reads the commits of a range from git (`--commits 1.3.0..HEAD`). NUL separates fields, because no
 * commit text contains it. A range is never interpreted as an option.
 */
import { spawn } from 'node:child_process';
import { printable } from '../../lib/text/printable.js';
import { EXIT, PackagerFailure } from './failure.js';

export interface GitCommit {
  id: string;
  author_name: string;
  timestamp: string | null;
  message: string;
  files: string[];
}

export interface GitCommits {
  range: string;
  /** Newest first. */
  commits: GitCommit[];
  truncated: boolean;
}

const MOST_COMMITS = 500;
const MOST_FILES = 100;
const LONGEST_TEXT = 200;
const LONGEST_PATH = 300;
/** Maximum characters of all commits as JSON; the service accepts 1 MiB. */
const MOST_TEXT = 700_000;
const MOST_BYTES = 16 * 1024 * 1024;
const PATIENCE_MS = 60_000;
const HASH = /^[0-9a-f]{40,64}$/;

/**
 * Reads the commits of the repository around the directory.
 * @throws PackagerFailure that names the fix
 */
export async function commitsOf(range: string, directory: string): Promise<GitCommits> {
  const heads = await log(range, directory, ['--format=%H%x00%an%x00%aI%x00%s']);
  const files = await log(range, directory, ['--format=%H', '--name-only']);
  const commits = commitsIn(heads.text);
  filesInto(commits, files.text);
  const kept = withinSize(commits.slice(0, MOST_COMMITS));
  return { range, commits: kept, truncated: heads.cut || files.cut || kept.length < commits.length };
}

function commitsIn(text: string): GitCommit[] {
  const fields = text.split('\0');
  const commits: GitCommit[] = [];
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [id = '', name = '', at = '', message = ''] = fields.slice(i, i + 4);
    if (!HASH.test(id)) break;
    const ms = Date.parse(at);
    commits.push({
      id,
      author_name: name.slice(0, LONGEST_TEXT),
      timestamp: Number.isNaN(ms) ? null : new Date(ms).toISOString(),
      message: message.slice(0, LONGEST_TEXT),
      files: [],
    });
  }
  return commits;
}

/** Assigns files to commits: each hash is followed by its files, the first after a line feed. */
function filesInto(commits: readonly GitCommit[], text: string): void {
  let next = 0;
  let at: GitCommit | undefined;
  for (const field of text.split('\0')) {
    if (field === commits[next]?.id) at = commits[next++];
    else if (at !== undefined && field !== '' && at.files.length < MOST_FILES)
      at.files.push(field.replace(/^\n/, '').slice(0, LONGEST_PATH));
  }
}

function withinSize(commits: readonly GitCommit[]): GitCommit[] {
  let room = MOST_TEXT;
  const kept: GitCommit[] = [];
  for (const commit of commits) {
    const bare = { ...commit, files: [] };
    const whole = JSON.stringify(commit).length;
    const one = whole <= room / 2 ? commit : bare;
    room -= JSON.stringify(one).length;
    if (room < 0) break;
    kept.push(one);
  }
  return kept;
}

function log(range: string, cwd: string, format: readonly string[]): Promise<{ text: string; cut: boolean }> {
  const asked = ['--no-merges', `--max-count=${MOST_COMMITS + 1}`, '-z', '--no-color', '--no-show-signature'];
  const args = ['--no-pager', 'log', ...asked, ...format, '--end-of-options', range, '--'];
  return new Promise((resolve, reject) => {
    const git = spawn('git', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS });
    const pieces: Buffer[] = [];
    let size = 0;
    let said = '';
    git.stdout.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= MOST_BYTES) pieces.push(piece);
      else git.kill();
    });
    git.stderr.on('data', (piece: Buffer) => void (said = (said + piece.toString()).slice(0, 2_000)));
    git.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new PackagerFailure(
          EXIT.error,
          error.code === 'ENOENT'
            ? '--commits needs git, which was not found.'
            : `git cannot be run (${error.message}).`,
        ),
      ),
    );
    git.on('close', (code) => {
      if (code === 0 || size > MOST_BYTES) resolve({ text: Buffer.concat(pieces).toString(), cut: size > MOST_BYTES });
      else reject(new PackagerFailure(EXIT.error, refusalOf(range, said)));
    });
  });
}

const refusalOf = (range: string, said: string): string =>
  `--commits ${printable(range, 200)} cannot be read: ${printable(said.trim().split('\n')[0] ?? '', 300) || 'git ended without a word'}. ` +
  'It is a range such as 1.3.0..HEAD, of the repository in the current directory; a shallow clone lacks older commits (git fetch --unshallow --tags).';
