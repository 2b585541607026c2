// `npm run check`: reminds of the language of this project (CONTRIBUTING.md, rules for code). It
// reads the words of scripts/style-words.txt and prints one line for each finding: file, line, what
// is wrong, what to write.
//
// node scripts/style.mjs all sources node scripts/style.mjs --commit <file> the message of one
// commit (.githooks/commit-msg)
import { parse } from '@babel/parser';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const MAX_COMMENT_WIDTH = 100;
const MAX_TEMPLATE_WIDTH = 160;
const MAX_SUBJECT_LENGTH = 72;
const SKIPPED = /^(test\/fixtures|adapters\/cli\/templates|web\/assets\/vendor|clients\/demo\/programs)\//;
/** Templates of tests, and the gallery, which shows templates as they are written. */
const UNWRAPPED = /^test\/|plugins\/manual\/views\/components\.hbs$/;
/** The demo, tests of examples and word lists show texts of other programs. */
const NOT_OF_USERS = /^clients\/demo\/|\.test\.ts$|runtime-values\.ts$/;
const PLUGINS = ['typescript', 'decorators-legacy'];

/** Sections of the word list: `[name]`, then one entry a line; `#` starts a comment. */
function readWords() {
  const sections = new Map();
  let section = [];
  for (const line of readFileSync(join(ROOT, 'scripts', 'style-words.txt'), 'utf8').split('\n')) {
    const text = line.replace(/#.*/, '').trim();
    const heading = /^\[(.+)\]$/.exec(text);
    if (heading !== null) sections.set(heading[1], (section = []));
    else if (text !== '') section.push(text);
  }
  return sections;
}

const words = readWords();
const readEntries = (name) => new Set((words.get(name) ?? []).join(' ').split(/\s+/));
const verbs = readEntries('verbs');
const nouns = readEntries('functions named by a noun');
const constants = readEntries('no names of constants');
const readPhrases = (name) =>
  (words.get(name) ?? []).map((line) => {
    const [phrase, instead] = line.split(' -> ');
    return { phrase, instead, pattern: new RegExp(`\\b(?:${phrase})\\b`, 'i') };
  });
const phrases = readPhrases('phrases');
const stringPhrases = readPhrases('phrases of strings');

/** The first word of a camel-case name: `findByRef` → `find`. */
const getFirstWord = (name) => /^[a-z0-9]+/.exec(name)?.[0] ?? '';
const isFunction = (node) => node?.type === 'ArrowFunctionExpression' || node?.type === 'FunctionExpression';

function checkFunction(name, report) {
  if (/^[A-Z]/.test(name) || verbs.has(getFirstWord(name)) || nouns.has(name)) return;
  const ending = /[A-Z][a-z0-9]*$/.exec(name)?.[0] ?? name;
  if (!nouns.has(`*${ending}`)) report(`${name}() does not start with a verb`);
}

function checkConstant(name, report) {
  if (constants.has(name) || /^(MOST|LONGEST|AT)_/.test(name))
    report(`${name} has no noun: say MAX_<NOUN> or <NOUN>_MS`);
}

/** Messages, log lines, help and API descriptions: string literals with more than one word. */
function checkStrings(node, report) {
  if (Array.isArray(node)) for (const child of node) checkStrings(child, report);
  if (typeof node?.type !== 'string') return;
  const text = node.type === 'StringLiteral' ? node.value : node.type === 'TemplateElement' ? node.value.cooked : '';
  if (text.includes(' '))
    for (const { phrase, instead, pattern } of stringPhrases)
      if (pattern.test(text)) report(node.loc.start.line, `"${phrase}" in a string: say ${instead}`);
  for (const [key, child] of Object.entries(node)) if (key !== 'loc') checkStrings(child, report);
}

function checkNames(program, report) {
  for (const node of program.body) {
    const exported = node.type === 'ExportNamedDeclaration';
    const declared = exported ? node.declaration : node;
    const at = (message) => report(node.loc.start.line, message);
    if (declared?.type === 'FunctionDeclaration') checkFunction(declared.id.name, at);
    if (declared?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declared.declarations) {
      if (id.type !== 'Identifier') continue;
      if (isFunction(init)) checkFunction(id.name, at);
      else checkConstant(id.name, at);
    }
  }
}

/** Lines of comments, with their numbers. */
function listCommentLines(text) {
  return text
    .split('\n')
    .flatMap((line, index) => (/^\s*(\/\/|\/\*|\*(\s|\/|$))/.test(line) ? [{ line, number: index + 1 }] : []));
}

function checkComments(text, report) {
  for (const { line, number } of listCommentLines(text)) {
    if (line.length > MAX_COMMENT_WIDTH)
      report(number, `a comment of ${line.length} characters, at most ${MAX_COMMENT_WIDTH}`);
    for (const { phrase, instead, pattern } of phrases)
      if (pattern.test(line)) report(number, `"${phrase}": say ${instead}`);
  }
}

function listFiles(...patterns) {
  const listing = execFileSync('git', ['ls-files', ...patterns], { cwd: ROOT, encoding: 'utf8' });
  return listing.split('\n').filter((file) => file !== '');
}

/** Prettier cannot parse the partials of Handlebars, so only the width is checked. */
function checkTemplates() {
  return listFiles('*.hbs')
    .filter((file) => !UNWRAPPED.test(file))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap(({ length }, index) =>
          length > MAX_TEMPLATE_WIDTH
            ? [`${file}:${index + 1}: a line of ${length} characters, at most ${MAX_TEMPLATE_WIDTH}`]
            : [],
        ),
    );
}

function checkSources() {
  const findings = checkTemplates();
  for (const file of listFiles('*.ts', '*.mjs').filter((name) => !SKIPPED.test(name))) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const report = (line, message) => findings.push(`${file}:${line}: ${message}`);
    checkComments(text, report);
    if (file.startsWith('test/')) continue;
    const { program } = parse(text, { sourceType: 'module', plugins: PLUGINS, sourceFilename: file });
    checkNames(program, report);
    if (!NOT_OF_USERS.test(file)) checkStrings(program.body, report);
  }
  return findings;
}

function checkCommit(path) {
  const [subject = ''] = readFileSync(path, 'utf8').split('\n');
  return subject.length > MAX_SUBJECT_LENGTH
    ? [`the subject has ${subject.length} characters, at most ${MAX_SUBJECT_LENGTH}`]
    : [];
}

const [option, path] = process.argv.slice(2);
const findings = option === '--commit' ? checkCommit(path) : checkSources();
for (const finding of findings) console.error(finding);
process.exitCode = findings.length === 0 ? 0 : 1;
