"""Wire shapes shared by the API and the dashboard's explorer."""
