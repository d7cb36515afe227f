-- A check of more than two values as `in (…)` makes a temporary table at each use, half of the time of a change of a run. Only
-- the text of the checks changes, as https://sqlite.org/lang_altertable.html#otheralter describes, so it takes no longer for
-- millions of rows. A connection that still has the old text needs no notice: both accept the same.
pragma writable_schema = on;
update sqlite_schema set sql = replace(sql,
  'status in (''queued'', ''running'', ''waiting'', ''cancelling'', ''completed'', ''failed'', ''cancelled'')',
  'status = ''queued'' or status = ''running'' or status = ''waiting'' or status = ''cancelling'' or status = ''completed'' or status = ''failed'' or status = ''cancelled''')
where type = 'table' and name = 'runs';
update sqlite_schema set sql = replace(sql,
  'status in (''idle'', ''running'', ''waiting'', ''stopping'', ''stopped'', ''failed'', ''terminated'')',
  'status = ''idle'' or status = ''running'' or status = ''waiting'' or status = ''stopping'' or status = ''stopped'' or status = ''failed'' or status = ''terminated''')
where type = 'table' and name = 'sessions';
update sqlite_schema set sql = replace(replace(sql,
  'touches in (''workspace'', ''outside'', ''both'')',
  'touches = ''workspace'' or touches = ''outside'' or touches = ''both'''),
  'status in (''begun'', ''ended'', ''left'', ''again'')',
  'status = ''begun'' or status = ''ended'' or status = ''left'' or status = ''again''')
where type = 'table' and name = 'tool_calls';
update sqlite_schema set sql = replace(sql,
  'status in (''pending'', ''sending'', ''delivered'', ''failed'', ''blocked'')',
  'status = ''pending'' or status = ''sending'' or status = ''delivered'' or status = ''failed'' or status = ''blocked''')
where type = 'table' and name = 'webhook_deliveries';
pragma writable_schema = reset;
