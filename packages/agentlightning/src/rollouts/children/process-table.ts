import { readdirSync, readFileSync } from 'node:fs';

/** What a group of processes uses together. */
export interface TreeUsage {
  processes: number;
  /** Resident memory that is not backed by files: what the tree costs the machine. */
  memoryBytes: number;
  /** User and system time, of ended children too. */
  cpuSeconds: number;
}

interface ProcessRow {
  pid: number;
  parent: number;
  group: number;
  session: number;
  cpuTicks: number;
}

/** USER_HZ, the unit of times in /proc: 100 on every platform of Linux that Node runs on. */
const ticksPerSecond = 100;

/** The processes in the leader's group or session and everything they started (Linux; elsewhere null: nobody tells). */
export function readTree(leader: number): TreeUsage | null {
  if (process.platform !== 'linux') return null;
  const rows = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readRow)
    .filter((row) => row !== null);
  const members = new Set(rows.filter((row) => belongs(row, leader)).map(({ pid }) => pid));
  // Parents have smaller numbers than their children but for wrap-around, so a few rounds find all.
  for (let before = -1; before !== members.size; ) {
    before = members.size;
    for (const { pid, parent } of rows) if (members.has(parent)) members.add(pid);
  }
  const tree = rows.filter(({ pid }) => members.has(pid));
  return {
    processes: tree.length,
    memoryBytes: tree.reduce((sum, { pid }) => sum + privateMemory(pid), 0),
    cpuSeconds: tree.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) / ticksPerSecond,
  };
}

const belongs = ({ pid, group, session }: ProcessRow, leader: number): boolean =>
  pid === leader || group === leader || session === leader;

/** Fields of proc(5) after the name, which may itself hold spaces and brackets. */
function readRow(pid: string): ProcessRow | null {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [, parent, group, session] = fields.map(Number);
  // utime, stime, cutime, cstime
  const cpuTicks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number(pid), parent: parent ?? 0, group: group ?? 0, session: session ?? 0, cpuTicks };
}

function privateMemory(pid: number): number {
  const status = read(`/proc/${pid}/status`) ?? '';
  const kibibytes = ['RssAnon', 'RssShmem'].map((name) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0),
  );
  return kibibytes.reduce((sum, value) => sum + value, 0) * 1024;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null; // It has ended.
  }
}
