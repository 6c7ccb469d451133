// The files of deploy/: node deploy.mjs PATH_OF_ARRCOC
// Manifests and compose files against their schemas, what they promise, and arrcoc and Prometheus
// started with them as plain processes.
import assert from 'node:assert/strict';
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {parse, parseAllDocuments} from 'yaml';
import {freePort} from './ports.mjs';
import {run, serve} from './server.mjs';

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (name) => readFileSync(folder + name, 'utf8');
const yaml = (name) => parse(read(name), {merge: true});
const manifests = readdirSync(folder + 'kubernetes').flatMap((file) =>
  parseAllDocuments(read('kubernetes/' + file)).map((one) => one.toJS()).filter(Boolean)
      .map((object) => ({file, object})));
const all = (kind) => manifests.filter((one) => one.object.kind === kind).map((one) => one.object);
const workloads = [...all('Deployment'), ...all('StatefulSet')];
const named = (kind, name) => all(kind).find((one) => one.metadata.name === name);
const work = mkdtempSync(join(tmpdir(), 'arrcoc_deploy_'));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Schemas allow fields that they do not name, the API server drops them: those that the validator
// never asked for are misspelt.
function watched(value, path, unasked) {
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).map((key) => path + '.' + key);
  if (!Array.isArray(value)) keys.forEach((key) => unasked.add(key));
  const inner = Object.fromEntries(Object.keys(value).map((key) => [key, watched(value[key], path + '.' + key, unasked)]));
  return new Proxy(Array.isArray(value) ? Object.values(inner) : inner, {
    get(target, key) {
      unasked.delete(path + '.' + String(key));
      return Reflect.get(target, key);
    },
    ownKeys(target) {  // any key will do: labels, limits
      keys.forEach((key) => unasked.delete(key));
      return Reflect.ownKeys(target);
    },
  });
}

// Fields of an object that its kind does not have; throws where it is wrong otherwise.
function misspelt(object) {
  const [version, group] = object.apiVersion.split('/').reverse();
  const upper = (word) => word[0].toUpperCase() + word.slice(1);
  const name = `IoK8sApi${upper((group ?? 'core').split('.')[0])}${upper(version)}${object.kind}`;
  const {validate} = require(join(require.resolve('kubernetes-models'), '../_schemas', name));
  const unasked = new Set();
  assert.ok(validate(watched(object, object.kind, unasked)), object.metadata.name + ' ' + JSON.stringify(validate.errors));
  return [...unasked];
}

const tests = {};
tests['manifests are what their API takes'] = () => {
  assert.ok(manifests.length >= 12);
  for (const {object} of manifests) assert.deepEqual(misspelt(object), []);
  const wrong = {apiVersion: 'v1', kind: 'Service', metadata: {name: 'a'}, spec: {ports: [{port: 1, tragetPort: 2}]}};
  assert.deepEqual(misspelt(wrong), ['Service.spec.ports.0.tragetPort']);
};
tests['pods have no rights that they do not need'] = () => {
  for (const {metadata, spec} of workloads) {
    const pod = spec.template.spec, name = metadata.name;
    assert.equal(pod.automountServiceAccountToken, false, name);
    assert.equal(pod.securityContext.seccompProfile.type, 'RuntimeDefault', name);
    for (const container of pod.containers) {
      assert.equal(container.securityContext.allowPrivilegeEscalation, false, name);
      assert.deepEqual(container.securityContext.capabilities, {drop: ['ALL']}, name);
      assert.match(container.image, /:v?\d+\.\d+\.\d+$/, name);
      for (const what of ['cpu', 'memory']) assert.ok(container.resources.limits[what], name + ' ' + what);
      if (name === 'vllm') continue;  // its image is root's
      assert.equal(pod.securityContext.runAsNonRoot, true, name);
      assert.equal(container.securityContext.readOnlyRootFilesystem, true, name);
    }
  }
};
tests['what manifests name is there'] = () => {
  const labels = workloads.map((one) => one.spec.template.metadata.labels.app);
  for (const {spec, metadata} of all('Service')) {
    const pod = workloads.find((one) => one.spec.template.metadata.labels.app === spec.selector.app);
    assert.ok(pod, metadata.name);
    const ports = pod.spec.template.spec.containers[0].ports;
    for (const port of spec.ports) assert.ok(ports.some((one) => one.name === port.targetPort && one.containerPort === port.port));
  }
  for (const {spec} of all('HorizontalPodAutoscaler')) assert.ok(named(spec.scaleTargetRef.kind, spec.scaleTargetRef.name));
  // Every pod is under a network policy that says both directions.
  const covered = all('NetworkPolicy').flatMap(({spec}) => {
    assert.deepEqual(spec.policyTypes, ['Ingress', 'Egress']);
    return spec.podSelector.matchLabels?.app ?? spec.podSelector.matchExpressions[0].values;
  });
  assert.deepEqual(covered.sort(), labels.sort());
};
tests['nothing is logged unless it is asked for'] = () => {
  const logs = workloads.filter((one) => JSON.stringify(one).includes('ARRCOC_SERVE_LOG')).map((one) => one.metadata.name);
  assert.deepEqual(logs, ['arrcoc-feedback']);
  assert.equal(named('StatefulSet', 'arrcoc-feedback').spec.replicas, 1);
  assert.ok(!read('compose.yaml').includes('ARRCOC_SERVE_LOG'));
};
tests['compose files are what compose takes'] = () => {
  const linter = join(require.resolve('dclint/package.json'), '../bin/dclint.cjs');
  const lint = (...files) => spawnSync(process.execPath, [linter, '-f', 'json', '-c', folder + '.dclintrc', ...files], {encoding: 'utf8'}).stdout;
  const rules = (text) => JSON.parse(text).flatMap((file) => file.messages).filter((one) => one.type === 'error').map((one) => one.rule);
  assert.deepEqual(rules(lint(folder + 'compose.yaml', folder + 'compose.feedback.yaml')), []);
  writeFileSync(join(work, 'compose.yaml'), read('compose.yaml').replace('pids_limit', 'pids_limits'));
  assert.deepEqual(rules(lint(join(work, 'compose.yaml'))), ['invalid-schema']);
  for (const [name, service] of Object.entries(yaml('compose.yaml').services)) {
    assert.match(service.image.replace(/\$\{\w+:-(.*)\}/, '$1'), /:v?\d+\.\d+\.\d+$/, name);
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    assert.equal(service.read_only ?? name === 'vllm', true, name);
  }
};
tests['the image is pinned, not root, and can check certificates'] = () => {
  const linter = require.resolve('dockerfilelint/bin/dockerfilelint');
  const found = JSON.parse(execFileSync(process.execPath, [linter, '-o', 'json', folder + 'Dockerfile'], {encoding: 'utf8'}));
  assert.equal(found.totalIssues, 0, JSON.stringify(found));
  const text = read('Dockerfile');
  for (const [, image] of text.matchAll(/^FROM (\S+)/gm)) assert.match(image, /:\d+\.\d+/);
  assert.match(text, /^USER 10001$/m);
  const packages = readFileSync(folder + '../deps/runtime-packages.txt', 'utf8');
  assert.match(packages, /^ca-certificates$/m);
};

// ---- Plain processes

const key = 'the key of this deployment';
const processes = [];

// As the container of arrcoc.yaml starts it, but for the address and the model behind.
async function arrcoc() {
  for (const {name, value} of named('Deployment', 'arrcoc').spec.template.spec.containers[0].env)
    process.env[name] = value ?? key;
  delete process.env.ARRCOC_SERVE_UPSTREAM;
  const server = await serve(process.argv[2], '--host', '127.0.0.1');
  processes.push(server);
  return server;
}

// prometheus.yaml with the addresses of this machine, every second.
async function prometheus(target, keyFile) {
  const config = yaml('prometheus.yaml');
  const [job] = config.scrape_configs;
  assert.equal(job.authorization.credentials_file, '/run/secrets/arrcoc-key');
  assert.deepEqual(job.dns_sd_configs, [{names: ['arrcoc-pods'], type: 'A', port: 8080}]);
  config.global.scrape_interval = '1s';
  job.authorization.credentials_file = keyFile;
  delete job.dns_sd_configs;
  job.static_configs = [{targets: [target]}];
  const where = mkdtempSync(join(work, 'prometheus'));
  const file = join(where, 'prometheus.yml');
  writeFileSync(file, JSON.stringify(config));
  writeFileSync(join(where, 'alerts.yml'), read('alerts.yaml'));
  execFileSync('promtool', ['check', 'config', file]);
  const port = await freePort();
  const child = spawn('prometheus', ['--config.file', file, '--storage.tsdb.path', join(where, 'data'),
    '--web.listen-address', '127.0.0.1:' + port], {stdio: 'ignore'});
  const ended = new Promise((done) => child.on('exit', done));
  processes.push({stop: () => (child.kill('SIGTERM'), ended)});
  const get = async (path) => {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/` + path);
    const {status, error, data} = await reply.json();
    assert.equal(status, 'success', path + ': ' + error);
    return data;
  };
  for (;; await pause(100)) if ((await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => ({}))).ok) break;
  return {
    query: async (expression) => (await get('query?query=' + encodeURIComponent(expression))).result.map((one) => Number(one.value[1])),
    problem: async () => (await get('targets')).activeTargets[0]?.lastError,
  };
}

// Waits until it holds; what never does ends with the time limit of the test.
async function until(holds) {
  while (!(await holds())) await pause(200);
}

let server, scraped;
tests['prometheus.yaml is a configuration'] = () => {
  execFileSync('promtool', ['check', 'config', '--syntax-only', folder + 'prometheus.yaml']);
};
tests['the rules are where Prometheus looks for them'] = () => {
  assert.deepEqual(yaml('prometheus.yaml').rule_files, ['alerts.yml']);
  assert.ok(yaml('compose.yaml').services.prometheus.volumes.includes('./alerts.yaml:/etc/prometheus/alerts.yml:ro'));
  assert.match(read('kubernetes/prometheus.yaml'), /--from-file=alerts\.yml=deploy\/alerts\.yaml/);
};
tests['alerts fire for drift and for budgets that do not fit'] = () => {
  const fits = (complexity, fit, values, rule = 'question') =>
    ({series: `arrcoc_budget_fit_total{complexity="${complexity}",rule="${rule}",fit="${fit}"}`, values});
  const drift = (instance, values) => ({series: `arrcoc_drift_alarm{instance="${instance}",stage="looking",statistic="tokens"}`, values});
  const fired = (alertname, eval_time, labels, summary) => ({alertname, eval_time, exp_alerts:
    labels ? [{exp_labels: {severity: 'warning', ...labels}, exp_annotations: {summary}}] : []});
  const test = {
    rule_files: [folder + 'alerts.yaml'],
    tests: [{
      interval: '1m',
      input_series: [
        drift('a', '0x10 1x400'), drift('b', '0x410'),
        fits('simple', 'under', '0+3x400'), fits('simple', 'met', '0+1x400'),
        fits('medium', 'over', '0+1x400'), fits('medium', 'met', '0+3x400'),
        fits('complex', 'under', '0x200 40x200'), fits('complex', 'met', '0x400'),  // too few
        fits('complex', 'under', '0+9x400', 'fixed'),  // nobody chose that for the question
      ],
      alert_rule_test: [
        fired('ArrcocDrift', '10m'),
        fired('ArrcocDrift', '20m', {instance: 'a', stage: 'looking', statistic: 'tokens'},
            'tokens of looking has moved since a started'),
        fired('ArrcocMistiered', '10m'),
        fired('ArrcocMistiered', '6h', {complexity: 'simple', fit: 'under'},
            'More than half of the simple questions are under their need'),
      ],
    }],
  };
  const file = join(work, 'alerts_test.yml');
  writeFileSync(file, JSON.stringify(test));
  execFileSync('promtool', ['test', 'rules', file], {stdio: ['ignore', 'ignore', 'inherit']});
};
tests['Prometheus scrapes a server that asks for a key'] = async () => {
  server = await arrcoc();
  assert.equal((await fetch(server.url + '/metrics')).status, 401);
  writeFileSync(join(work, 'key'), key);
  scraped = await prometheus(new URL(server.url).host, join(work, 'key'));
  await until(async () => (await scraped.query('up{job="arrcoc"}'))[0] === 1);
  assert.equal((await scraped.query('arrcoc_connections')).length, 1);
};
tests['and not with another key'] = async () => {
  writeFileSync(join(work, 'other'), 'another key');
  const other = await prometheus(new URL(server.url).host, join(work, 'other'));
  await until(async () => /401/.test(await other.problem()));
  await until(async () => (await other.query('up{job="arrcoc"}')).length > 0);
  assert.deepEqual(await other.query('up{job="arrcoc"}'), [0]);
  assert.deepEqual(await other.query('arrcoc_connections'), []);
};
tests['the autoscaler has its metric'] = async () => {
  const {rules, prometheus: at} = yaml('prometheus-adapter.yaml');
  const [metric] = all('HorizontalPodAutoscaler').flatMap((one) => one.spec.metrics).filter((one) => one.type === 'External');
  const rule = rules.external.find((one) => one.name.as === metric.external.metric.name);
  for (const expression of [rule.seriesQuery, rule.metricsQuery])
    assert.equal((await scraped.query(expression)).length, 1, expression);
  assert.equal(named('Service', new URL(at.url).hostname.split('.')[0]).spec.ports[0].port, at.port);
};
tests['every query of the dashboard and of the alerts is one'] = async () => {
  const panels = JSON.parse(read('grafana/dashboard.json')).panels;
  const text = await (await fetch(server.url + '/metrics', {headers: {authorization: 'Bearer ' + key}})).text();
  const names = new Set(text.match(/^# TYPE (\w+)/gm).map((line) => line.slice(7)));
  const rules = yaml('alerts.yaml').groups.flatMap((group) => group.rules);
  for (const {expr} of [...panels.flatMap((panel) => panel.targets ?? []), ...rules]) {
    await scraped.query(expr);
    for (const [name] of expr.matchAll(/arrcoc_\w+/g)) assert.ok(names.has(name.replace(/_(bucket|sum|count)$/, '')), name);
  }
};
tests['the health check of the image knows a server that is ready'] = async () => {
  const health = (url) => execFileSync(folder + 'arrcoc-health', [url], {stdio: 'ignore'});
  for (;; await pause(200)) if ((await fetch(server.url + '/health')).status === 200) break;
  health(server.url + '/health');
  assert.throws(() => health(server.url + '/nothing'));
};

try {
  await run(tests);
} finally {
  for (const one of processes) await one.stop();
  rmSync(work, {recursive: true, force: true});
}
