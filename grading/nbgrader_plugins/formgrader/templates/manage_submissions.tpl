{%- extends "nbgrader/manage_submissions.tpl" -%}
{%- block messages -%}
{%- set lesson = assignment_id -%}
{%- include "grade_panel.tpl" -%}
{{ super() }}
{%- endblock -%}
