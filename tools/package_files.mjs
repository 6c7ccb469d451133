// node tools/package_files.mjs BUILD OUT VERSION MAINTAINER COMPONENT=PACKAGE...: what packages hold besides what
// was built: changelogs in Debian's form, from CHANGELOG.md, and arrcoc.spdx.json (SPDX 2.3), the libraries that the
// programs load here or are made of, with their versions and licences, as dpkg and /usr/share/doc know them.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const [build, out, version, maintainer, ...packages] = process.argv.slice(2);
if (!packages.length) {
  console.error('usage: package_files.mjs BUILD OUT VERSION MAINTAINER COMPONENT=PACKAGE...');
  process.exit(2);
}
const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });

function changelog(name) {
  const entries = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m).slice(1).map((entry) => {
    const [head, ...lines] = entry.trim().split('\n');
    const [, number, date] = /^(\S+) \((\d{4}-\d\d-\d\d)\)$/.exec(head);
    const when = new Date(date).toUTCString().replace('GMT', '+0000');
    const what = lines.filter((line) => line.startsWith('- ')).map((line) => `  * ${line.slice(2)}`);
    return `${name} (${number}) unstable; urgency=medium\n\n${what.join('\n')}\n\n -- ${maintainer}  ${when}\n`;
  });
  if (!entries[0]?.includes(`(${version})`)) throw new Error(`CHANGELOG.md does not begin with ${version}`);
  return gzipSync(entries.join('\n'), { level: 9 });
}

// The licences that a package's copyright file names (DEP-5), else what cannot be said.
function licences(name) {
  const file = `/usr/share/doc/${name.replace(/:.*/, '')}/copyright`;
  if (!existsSync(file)) return [];
  return [...new Set([...readFileSync(file, 'utf8').matchAll(/^License:[ \t]*(\S.*)$/gm)].map((m) => m[1].trim()))];
}

function describe(names) {
  return run('dpkg-query', '-W', '-f', '${binary:Package} ${Version} ${source:Package} ${Architecture}\n', ...names)
    .trim().split('\n').map((line) => line.split(' '));
}

function libraries(programs) {
  const files = new Set();
  for (const program of programs)
    for (const [, file] of run('ldd', program).matchAll(/=> (\/\S+)/g)) files.add(realpathSync(file));
  for (const file of files) if (file.startsWith(path.resolve(build))) files.delete(file);
  // A file that moved with /usr is known under its old name. dpkg fails when it does not know all of them.
  const names = [...files].flatMap((file) => [file, file.replace(/^\/usr/, '')]);
  const owners = new Map(spawnSync('dpkg', ['-S', ...names], { encoding: 'utf8', maxBuffer: 1 << 26 }).stdout.trim().split('\n')
    .map((line) => [line.slice(line.lastIndexOf(': ') + 2), line.split(/: |, /)[0]]));
  const used = new Set();
  for (const file of files) {
    const owner = owners.get(file) ?? owners.get(file.replace(/^\/usr/, ''));
    if (!owner) throw new Error(`${file} belongs to no package`);
    used.add(owner);
  }
  return describe(used);
}

// Libraries of headers alone: no program loads them, they became part of it.
const HEADERS = ['libcli11-dev', 'nlohmann-json3-dev'];

function sbom(programs) {
  const id = (text) => `SPDXRef-${text.replace(/[^A-Za-z0-9.-]/g, '-')}`;
  const own = { SPDXID: 'SPDXRef-arrcoc', name: 'arrcoc', versionInfo: version, downloadLocation: 'NOASSERTION',
    filesAnalyzed: false, licenseConcluded: 'MIT', licenseDeclared: 'MIT', copyrightText: 'The ARR-COC authors' };
  const used = [...libraries(programs), ...describe(HEADERS)].map(([name, number, source, architecture]) => ({
    SPDXID: id(`deb-${name}`), name: name.replace(/:.*/, ''), versionInfo: number, downloadLocation: 'NOASSERTION',
    filesAnalyzed: false, licenseConcluded: 'NOASSERTION', licenseDeclared: 'NOASSERTION', copyrightText: 'NOASSERTION',
    supplier: 'Organization: Debian', sourceInfo: `Debian source package ${source}`,
    licenseComments: `in /usr/share/doc/${name.replace(/:.*/, '')}/copyright: ${licences(name).join('; ') || 'free text'}`,
    externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl',
      referenceLocator: `pkg:deb/debian/${name.replace(/:.*/, '')}@${encodeURIComponent(number)}?arch=${architecture}` }],
  }));
  const names = used.map((one) => `${one.name} ${one.versionInfo}`).join('\n');
  return { spdxVersion: 'SPDX-2.3', dataLicense: 'CC0-1.0', SPDXID: 'SPDXRef-DOCUMENT', name: `arrcoc-${version}`,
    documentNamespace: `urn:arrcoc:${version}:${createHash('sha256').update(names).digest('hex')}`,
    creationInfo: { created: new Date().toISOString().replace(/\.\d+/, ''), creators: ['Tool: package_files.mjs'] },
    packages: [own, ...used],
    relationships: [{ spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: own.SPDXID },
      ...used.map((one) => ({ spdxElementId: own.SPDXID, relationshipType: HEADERS.includes(one.name) ? 'CONTAINS' : 'DEPENDS_ON',
        relatedSpdxElement: one.SPDXID }))] };
}

mkdirSync(out, { recursive: true });
for (const name of packages.map((pair) => pair.split('=')[1]))
  writeFileSync(path.join(out, `${name}.changelog.gz`), changelog(name));
const programs = ['arrcoc', 'arrcoc-decode', 'arrcoc-decode-film', 'libarrcoc_c.so'].map((name) => path.join(build, name));
writeFileSync(path.join(out, 'arrcoc.spdx.json'), `${JSON.stringify(sbom(programs), null, 1)}\n`);
