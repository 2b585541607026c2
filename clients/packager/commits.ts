/**
 * NUL separates fields, because no commit text contains it. A range is never interpreted as an
 * option.
 */
import { spawn } from 'node:child_process';
import { toPrintable } from '../../lib/text/printable.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';

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

const MAX_COMMITS = 500;
const MAX_FILES = 100;
const MAX_TEXT_LENGTH = 200;
const MAX_PATH_LENGTH = 300;
/** Maximum characters of all commits as JSON; the service accepts 1 MiB. */
const MAX_JSON_LENGTH = 700_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const GIT_TIMEOUT_MS = 60_000;
const HASH_PATTERN = /^[0-9a-f]{40,64}$/;

/** @throws PackagerFailure that names the fix */
export async function readCommits(range: string, directory: string): Promise<GitCommits> {
  const heads = await runGitLog(range, directory, ['--format=%H%x00%an%x00%aI%x00%s']);
  const files = await runGitLog(range, directory, ['--format=%H', '--name-only']);
  const commits = parseCommits(heads.text);
  assignFiles(commits, files.text);
  const includedCommits = limitSize(commits.slice(0, MAX_COMMITS));
  return {
    range,
    commits: includedCommits,
    truncated: heads.cut || files.cut || includedCommits.length < commits.length,
  };
}

function parseCommits(text: string): GitCommit[] {
  const fields = text.split('\0');
  const commits: GitCommit[] = [];
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [id = '', name = '', at = '', message = ''] = fields.slice(i, i + 4);
    if (!HASH_PATTERN.test(id)) break;
    const ms = Date.parse(at);
    commits.push({
      id,
      author_name: name.slice(0, MAX_TEXT_LENGTH),
      timestamp: Number.isNaN(ms) ? null : new Date(ms).toISOString(),
      message: message.slice(0, MAX_TEXT_LENGTH),
      files: [],
    });
  }
  return commits;
}

/** Assigns files to commits: each hash is followed by its files, the first after a line feed. */
function assignFiles(commits: readonly GitCommit[], text: string): void {
  let next = 0;
  let at: GitCommit | undefined;
  for (const field of text.split('\0')) {
    if (field === commits[next]?.id) at = commits[next++];
    else if (at !== undefined && field !== '' && at.files.length < MAX_FILES)
      at.files.push(field.replace(/^\n/, '').slice(0, MAX_PATH_LENGTH));
  }
}

function limitSize(commits: readonly GitCommit[]): GitCommit[] {
  let budget = MAX_JSON_LENGTH;
  const included: GitCommit[] = [];
  for (const commit of commits) {
    const bare = { ...commit, files: [] };
    const whole = JSON.stringify(commit).length;
    const one = whole <= budget / 2 ? commit : bare;
    budget -= JSON.stringify(one).length;
    if (budget < 0) break;
    included.push(one);
  }
  return included;
}

function runGitLog(range: string, cwd: string, format: readonly string[]): Promise<{ text: string; cut: boolean }> {
  const logOptions = ['--no-merges', `--max-count=${MAX_COMMITS + 1}`, '-z', '--no-color', '--no-show-signature'];
  const args = ['--no-pager', 'log', ...logOptions, ...format, '--end-of-options', range, '--'];
  return new Promise((resolve, reject) => {
    const git = spawn('git', args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: GIT_TIMEOUT_MS });
    const pieces: Buffer[] = [];
    let size = 0;
    let stderrText = '';
    git.stdout.on('data', (piece: Buffer) => {
      size += piece.length;
      if (size <= MAX_OUTPUT_BYTES) pieces.push(piece);
      else git.kill();
    });
    git.stderr.on('data', (piece: Buffer) => void (stderrText = (stderrText + piece.toString()).slice(0, 2_000)));
    git.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        new PackagerFailure(
          EXIT_CODES.error,
          error.code === 'ENOENT'
            ? '--commits requires git, which was not found.'
            : `git cannot be run (${error.message}).`,
        ),
      ),
    );
    git.on('close', (code) => {
      if (code === 0 || size > MAX_OUTPUT_BYTES)
        resolve({ text: Buffer.concat(pieces).toString(), cut: size > MAX_OUTPUT_BYTES });
      else reject(new PackagerFailure(EXIT_CODES.error, formatGitError(range, stderrText)));
    });
  });
}

const formatGitError = (range: string, stderrText: string): string =>
  `--commits ${toPrintable(range, 200)} cannot be read: ${toPrintable(stderrText.trim().split('\n')[0] ?? '', 300) || 'git exited without output'}. ` +
  'It must be a range such as 1.3.0..HEAD of the repository in the current directory; a shallow clone lacks older commits (git fetch --unshallow --tags).';
